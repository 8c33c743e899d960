//! One step of learning: every weight of the toy head moved a little against its
//! gradient, and what became of the loss.

use attention::Error;
use ledger::Ledger;
use ndarray::Array2;

use super::{Numbers, W_K, W_Q, W_V};
use crate::Claim;
use crate::queries_keys_values::{CAT, THE, TOKENS, weight_of_cat};

/// The learning rate of the text.
const RATE: f64 = 0.1;
/// The learning rates of the table, and their names.
const RATES: [f64; 4] = [0.001, 0.1, 1.0, 10.0];
const RATE_NAMES: [&str; 4] = ["0.001", "0.1", "1", "10"];

/// Enters the values of the section.
pub fn enter(ledger: &mut Ledger) {
    ledger.enter("back.step.rate", rate).digits(1).about("the learning rate");
    ledger
        .enter("back.step.loss", loss_after)
        .digits(4)
        .about("the loss after one step of learning");
    ledger
        .enter("back.step.the.attends.cat", weight_of_cat_after)
        .about("how much of its attention “the” gives to “cat” after the step");
    ledger
        .enter("back.step.w-q", query_weights_after)
        .digits(3)
        .rows(&crate::queries_keys_values::MEANINGS)
        .columns(&crate::queries_keys_values::MATCHES)
        .symbol("W_Q")
        .about("the weights that make queries after the step");
    ledger
        .enter("back.step.rates", falls)
        .digits(4)
        .rows(&RATE_NAMES)
        .columns(&["fall expected", "fall seen"])
        .about("how far the loss falls in one step: expected from the gradient, and seen");
    ledger
        .enter("back.step.helps", step_helps)
        .about("one step makes the loss smaller, and the attention to “cat” larger");
    ledger
        .enter("back.step.too.far", too_far_hurts)
        .about("with the learning rate 10 the loss grows");
}

/// The learning rate of the text.
#[must_use]
pub fn rate() -> f64 {
    RATE
}

/// The toy head after one step: each weight less the rate times its gradient.
/// The embeddings stay as they are.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn stepped(rate: f64) -> Result<Numbers, Error> {
    let mut numbers = Numbers::toy();
    let gradient = numbers.gradient()?;
    for matrix in [W_Q, W_K, W_V] {
        numbers.matrices[matrix].scaled_add(-rate, &gradient.matrices[matrix]);
    }
    Ok(numbers)
}

/// The loss after the step.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn loss_after() -> Result<f64, Error> {
    stepped(RATE)?.loss()
}

/// The weight that “the” gives to “cat” after the step.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn weight_of_cat_after() -> Result<f64, Error> {
    Ok(stepped(RATE)?.example()?.trace.weights[[THE, CAT]])
}

/// `W_Q` after the step.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn query_weights_after() -> Result<Array2<f64>, Error> {
    let [w_q, ..] = stepped(RATE)?.matrices;
    Ok(w_q)
}

/// How far the loss falls at each rate: what the gradient promises, which is the
/// rate times the sum of its squares, and what is seen.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn falls() -> Result<Array2<f64>, Error> {
    let numbers = Numbers::toy();
    let (before, gradient) = (numbers.loss()?, numbers.gradient()?);
    let squares = |matrix: usize| gradient.matrices[matrix].mapv(|entry| entry * entry).sum();
    let slope: f64 = [W_Q, W_K, W_V].into_iter().map(squares).sum();
    let mut falls = Array2::zeros((RATES.len(), 2));
    for (&rate, mut row) in RATES.iter().zip(falls.outer_iter_mut()) {
        row[0] = rate * slope;
        row[1] = before - stepped(rate)?.loss()?;
    }
    Ok(falls)
}

/// [`helps`], for the rate of the text.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn step_helps() -> Claim {
    helps(RATE)
}

/// With the rate 10 the loss grows.
///
/// # Errors
///
/// The loss, which has not grown.
pub fn too_far_hurts() -> Claim {
    let loss = |rate| stepped(rate).and_then(|numbers| numbers.loss());
    let (before, after) = (loss(0.0), loss(10.0));
    match (before, after) {
        (Ok(before), Ok(after)) if after > before => Ok(()),
        (before, after) => Err(format!("it was {before:?} and is {after:?}")),
    }
}

/// One step makes the loss smaller, and the attention of “the” to “cat” larger.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn helps(rate: f64) -> Claim {
    let to_text = |error: Error| error.to_string();
    let (before, after) = (Numbers::toy(), stepped(rate).map_err(to_text)?);
    let (loss_before, loss_after) =
        (before.loss().map_err(to_text)?, after.loss().map_err(to_text)?);
    if loss_after >= loss_before {
        return Err(format!("the loss was {loss_before} and is {loss_after}"));
    }
    let cat_before = weight_of_cat().map_err(to_text)?;
    let cat_after = after.example().map_err(to_text)?.trace.weights[[THE, CAT]];
    if cat_after <= cat_before {
        let [the, cat] = [TOKENS[THE], TOKENS[CAT]];
        return Err(format!("“{the}” gave {cat_before} to “{cat}” and gives {cat_after}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_step_and_a_step_uphill_do_not_help() {
        assert!(helps(0.0).is_err());
        assert!(helps(-0.1).unwrap_err().starts_with("the loss was"));
    }

    #[test]
    fn a_small_step_does_what_the_gradient_promises() {
        let falls = falls().unwrap();
        assert!((falls[[0, 1]] / falls[[0, 0]] - 1.0).abs() < 0.01, "{falls}");
    }
}
