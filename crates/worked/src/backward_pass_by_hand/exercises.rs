//! The exercises' solutions.

use attention::Error;
use ledger::Ledger;
use ndarray::{Array1, Array2, Axis, array};

use super::{Backward, Numbers, W_Q, backward};
use crate::Claim;
use crate::queries_keys_values::{CAT, MESSAGES, SAT, SMALL_WORD, THE, TOKENS};

/// Enters the values of the exercises.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("back.exercise.sat", d_value_of_sat)
        .digits(3)
        .columns(&MESSAGES)
        .about("the gradient of the value of “sat”");
    ledger
        .enter("back.exercise.weight.sat", weight_of_sat)
        .digits(3)
        .about("how much of its attention “the” gives to “sat”");
    ledger
        .enter("back.exercise.future", later_tokens_are_not_blamed)
        .about("a loss at “cat” gives no gradient to any token after it");
    ledger
        .enter("back.exercise.rank", query_gradient_is_one_product)
        .about("the gradient of W_Q is the embedding of “the” times the gradient of its query");
    ledger
        .enter("back.exercise.losses", losses_add_up)
        .about("the gradient of a sum of losses is the sum of their gradients");
    ledger.enter("back.exercise.covariance", query_gradient_is_a_covariance).about(
        "the gradient of the query is the covariance of keys and gradients, times the scale",
    );
    ledger
        .enter("back.exercise.wrong.loss", loss_of_the_wrong_head)
        .about("the loss of a head that is sure of the wrong token");
    ledger
        .enter("back.exercise.wrong.attends", wrong_head_attends_sat)
        .digits(4)
        .about("how much of its attention “the” gives to “sat” in that head");
    ledger
        .enter("back.exercise.wrong.gradient", wrong_head_score_gradient)
        .digits(4)
        .about("the largest gradient of a score in that head");
    ledger
        .enter("back.exercise.toy.gradient", toy_score_gradient)
        .digits(4)
        .about("the largest gradient of a score in the toy head");
}

/// How much of its attention “the” gives to “sat”.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn weight_of_sat() -> Result<f64, Error> {
    Ok(Numbers::toy().example()?.trace.weights[[THE, SAT]])
}

/// The gradient of the value of “sat”: its weight times the error of “the”.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn d_value_of_sat() -> Result<Array1<f64>, Error> {
    Ok(backward()?.gradient.through.v.row(SAT).to_owned())
}

/// [`none_after`] “cat”, for a loss that looks at the output of “cat” alone.
///
/// # Errors
///
/// The later token that has a gradient.
pub fn later_tokens_are_not_blamed() -> Claim {
    none_after(CAT, &loss_at(CAT).map_err(|error| error.to_string())?)
}

/// The backward pass of a loss that is the sum of one row of the output.
fn loss_at(token: usize) -> Result<Backward, Error> {
    let example = Numbers::toy().example()?;
    let mut d_output = Array2::zeros(example.trace.output.dim());
    d_output.row_mut(token).fill(1.0);
    Backward::from_output(&d_output, example)
}

/// No token after one has a gradient.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn none_after(token: usize, backward: &Backward) -> Claim {
    for (later, row) in TOKENS.iter().zip(backward.gradient.x.outer_iter()).skip(token + 1) {
        if row.iter().any(|&entry| entry != 0.0) {
            return Err(format!("the gradient of “{later}” is {row}"));
        }
    }
    Ok(())
}

/// [`one_product`], of the toy head.
///
/// # Errors
///
/// The largest difference.
pub fn query_gradient_is_one_product() -> Claim {
    one_product(&backward().map_err(|error| error.to_string())?)
}

/// The gradient of `W_Q` is the embedding of “the”, as a column, times the gradient
/// of its query, as a row.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn one_product(backward: &Backward) -> Claim {
    let the = backward.example.x.row(THE).insert_axis(Axis(1)).to_owned();
    let d_query = backward.gradient.through.q.row(THE).insert_axis(Axis(0)).to_owned();
    equal(&the.dot(&d_query), &backward.gradient.w_q)
}

/// Two matrices are equal, up to rounding.
fn equal(left: &Array2<f64>, right: &Array2<f64>) -> Claim {
    let apart = (left - right).fold(0.0, |apart: f64, entry| apart.max(entry.abs()));
    if apart <= 1e-14 { Ok(()) } else { Err(format!("they are {apart} apart")) }
}

/// The gradients of a loss at “cat” and of one at “the” add up to those of both.
///
/// # Errors
///
/// How far they are from it.
pub fn losses_add_up() -> Claim {
    let to_text = |error: Error| error.to_string();
    let (cat, the) = (loss_at(CAT).map_err(to_text)?, loss_at(THE).map_err(to_text)?);
    let d_output = &cat.gradient.through.output + &the.gradient.through.output;
    let both = Backward::from_output(&d_output, cat.example).map_err(to_text)?;
    equal(&(&cat.gradient.x + &the.gradient.x), &both.gradient.x)?;
    equal(&(&cat.gradient.w_k + &the.gradient.w_k), &both.gradient.w_k)
}

/// [`covariance`], of the toy head.
///
/// # Errors
///
/// How far the two are apart.
pub fn query_gradient_is_a_covariance() -> Claim {
    covariance(&backward().map_err(|error| error.to_string())?)
}

/// The gradient of the query of “the” is the covariance of the keys with the
/// gradients of the weights, the weights being the probabilities, times the scale.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn covariance(backward: &Backward) -> Claim {
    let trace = &backward.example.trace;
    let (weights, d_weights) = (trace.weights.row(THE), backward.gradient.through.weights.row(THE));
    let (mean_key, mean) = (weights.dot(&trace.k), weights.dot(&d_weights));
    let mut covariance = Array2::zeros((1, trace.k.ncols()));
    for ((key, &weight), &d_weight) in trace.k.outer_iter().zip(weights).zip(d_weights) {
        covariance.row_mut(0).scaled_add(weight * (d_weight - mean), &(&key - &mean_key));
    }
    let scale: f64 = attention::recipe::default_scale(trace.k.ncols());
    let d_query = backward.gradient.through.q.row(THE).insert_axis(Axis(0)).to_owned();
    equal(&(covariance * scale), &d_query)
}

/// The toy head, but a small word looks for an action, and with all its might.
fn sure_and_wrong() -> Numbers {
    let mut numbers = Numbers::toy();
    numbers.matrices[W_Q].row_mut(SMALL_WORD).assign(&array![0.0, 8.0, 0.0]);
    numbers
}

/// The loss of a head that is sure of the wrong token.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn loss_of_the_wrong_head() -> Result<f64, Error> {
    sure_and_wrong().loss()
}

/// How much of its attention “the” gives to “sat” in that head.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn wrong_head_attends_sat() -> Result<f64, Error> {
    Ok(sure_and_wrong().example()?.trace.weights[[THE, SAT]])
}

/// The largest gradient of a score in that head.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn wrong_head_score_gradient() -> Result<f64, Error> {
    largest_score_gradient(&sure_and_wrong())
}

/// The largest gradient of a score in the toy head.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn toy_score_gradient() -> Result<f64, Error> {
    largest_score_gradient(&Numbers::toy())
}

/// The largest gradient of a score, scaled and masked.
fn largest_score_gradient(numbers: &Numbers) -> Result<f64, Error> {
    let d_masked = Backward::new(numbers.example()?)?.gradient.through.masked;
    Ok(d_masked.fold(0.0, |largest: f64, entry| largest.max(entry.abs())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_at_the_end_blames_later_tokens() {
        assert!(none_after(CAT, &backward().unwrap()).unwrap_err().contains("“sat”"));
    }

    #[test]
    fn a_loss_that_looks_at_all_rows_is_no_single_product() {
        let example = Numbers::toy().example().unwrap();
        let backward = Backward::from_output(&example.trace.output.clone(), example).unwrap();
        assert!(one_product(&backward).is_err());
    }

    #[test]
    fn another_gradient_is_no_covariance() {
        let mut backward = backward().unwrap();
        backward.gradient.through.q[[THE, 1]] += 0.01;
        assert!(covariance(&backward).is_err());
    }
}
