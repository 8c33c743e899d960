//! Chapter *The backward pass, by hand*: the toy head of *Queries, keys and
//! values*, followed back from a loss to every number it was made with. Its
//! claims, its nudges, its step of learning and the exercises have files of their own.

pub mod claims;
pub mod differences;
pub mod exercises;
pub mod step;

use attention::gradient::{self, HeadGradient};
use attention::{Error, Head, Options};
use ledger::{Ledger, number_tex};
use ndarray::{Array1, Array2, ArrayRef2, array};

use crate::queries_keys_values::{
    CAT, Example, MATCHES, MEANINGS, MESSAGES, THE, TOKENS, embeddings, example,
};
use crate::spell;

/// Enters every value of the chapter.
pub fn enter(ledger: &mut Ledger) {
    enter_loss(ledger);
    enter_mix(ledger);
    enter_scores(ledger);
    enter_projections(ledger);
    claims::enter(ledger);
    differences::enter(ledger);
    step::enter(ledger);
    exercises::enter(ledger);
}

fn enter_loss(ledger: &mut Ledger) {
    ledger
        .enter("back.target", target)
        .digits(0)
        .columns(&MESSAGES)
        .about("what the output of the last “the” is wanted to be");
    ledger
        .enter("back.loss", loss)
        .digits(4)
        .about("the loss of the toy head: half the squared distance from the target");
    ledger.enter("back.loss.spelled", loss_spelled).about("the loss, written out");
    ledger
        .enter("back.d-output", d_output)
        .rows(&TOKENS)
        .columns(&MESSAGES)
        .symbol("dO")
        .about("how the loss changes with each number of the output");
}

fn enter_mix(ledger: &mut Ledger) {
    ledger
        .enter("back.d-weights", d_weights)
        .rows(&TOKENS)
        .columns(&TOKENS)
        .symbol("dA")
        .about("how the loss changes with each weight of attention");
    ledger
        .enter("back.the.d-weight.cat", d_weight_spelled)
        .about("the gradient of the weight that “the” gives to “cat”, written out");
    ledger
        .enter("back.d-v", d_v)
        .rows(&TOKENS)
        .columns(&MESSAGES)
        .symbol("dV")
        .about("how the loss changes with each number of the values");
    ledger
        .enter("back.cat.d-v", d_value_spelled)
        .about("the gradient of the first number of cat's value, written out");
}

fn enter_scores(ledger: &mut Ledger) {
    ledger
        .enter("back.the.average", average_spelled)
        .about("the average of the row's gradients by its own weights, written out");
    ledger
        .enter("back.the.softmax", softmax_backwards)
        .digits(3)
        .rows(&["weight", "gradient of the weight", "less the average", "times the weight"])
        .columns(&TOKENS)
        .about("softmax backwards for the row of “the”, line by line");
    ledger
        .enter("back.d-scores", d_scores)
        .digits(3)
        .rows(&TOKENS)
        .columns(&TOKENS)
        .symbol("dS")
        .about("how the loss changes with each score");
}

fn enter_projections(ledger: &mut Ledger) {
    ledger
        .enter("back.d-q", d_q)
        .digits(3)
        .rows(&TOKENS)
        .columns(&MATCHES)
        .symbol("dQ")
        .about("how the loss changes with each number of the queries");
    ledger
        .enter("back.the.d-q", d_query_spelled)
        .about("the gradient of the first number of the query of “the”, written out");
    ledger
        .enter("back.d-k", d_k)
        .digits(3)
        .rows(&TOKENS)
        .columns(&MATCHES)
        .symbol("dK")
        .about("how the loss changes with each number of the keys");
    ledger
        .enter("back.d-w-q", d_w_q)
        .digits(3)
        .rows(&MEANINGS)
        .columns(&MATCHES)
        .symbol("dW_Q")
        .about("how the loss changes with each weight that makes queries");
    ledger
        .enter("back.d-w-k", d_w_k)
        .digits(3)
        .rows(&MEANINGS)
        .columns(&MATCHES)
        .symbol("dW_K")
        .about("how the loss changes with each weight that makes keys");
    ledger
        .enter("back.d-w-v", d_w_v)
        .digits(3)
        .rows(&MEANINGS)
        .columns(&MESSAGES)
        .symbol("dW_V")
        .about("how the loss changes with each weight that makes values");
    ledger
        .enter("back.cat.parts", parts_of_d_cat)
        .digits(3)
        .rows(&["through its query", "through its key", "through its value"])
        .columns(&MEANINGS)
        .about("what comes back to the embedding of “cat” on each of three ways");
    ledger
        .enter("back.d-x", d_x)
        .digits(3)
        .rows(&TOKENS)
        .columns(&MEANINGS)
        .symbol("dX")
        .about("how the loss changes with each number of the embeddings");
}

/// The toy head, its loss and every gradient of it.
#[derive(Clone, Debug)]
pub struct Backward {
    /// The forward pass: tokens, head and trace.
    pub example: Example,
    /// The gradients of everything that the head works with.
    pub gradient: HeadGradient<f64>,
}

impl Backward {
    /// Follows the loss of an example back to everything it was made with.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if the example's output is none of five tokens with three
    /// messages.
    pub fn new(example: Example) -> Result<Backward, Error> {
        Backward::from_output(&error_of_the(&example.trace.output), example)
    }

    /// The same for any loss whose gradient with respect to the output is known.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if `d_output` is not of the output's shape.
    pub fn from_output(d_output: &ArrayRef2<f64>, example: Example) -> Result<Backward, Error> {
        let Example { x, head, trace } = &example;
        let gradient = head.gradient(x, trace, d_output, Options::causal())?;
        Ok(Backward { example, gradient })
    }
}

/// The backward pass of the chapter.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn backward() -> Result<Backward, Error> {
    Backward::new(example()?)
}

/// What the output of the last “the” is wanted to be: cat's value, and no more.
#[must_use]
pub fn target() -> Array1<f64> {
    array![2.0, 0.0, 0.0]
}

/// The loss of an output: half the squared distance of its last row from the target.
#[must_use]
pub fn loss_of(output: &Array2<f64>) -> f64 {
    0.5 * (&output.row(THE) - &target()).mapv(|miss| miss * miss).sum()
}

/// The gradient of that loss with respect to the output: how far the last row
/// misses the target, and 0 in the rows that the loss does not look at.
#[must_use]
pub fn error_of_the(output: &Array2<f64>) -> Array2<f64> {
    let mut d_output = Array2::zeros(output.dim());
    d_output.row_mut(THE).assign(&(&output.row(THE) - &target()));
    d_output
}

/// The loss of the toy head.
///
/// # Errors
///
/// Those of [`backward`].
pub fn loss() -> Result<f64, Error> {
    Ok(loss_of(&example()?.trace.output))
}

/// The loss of the toy head, written out in TeX.
///
/// # Errors
///
/// Those of [`backward`].
pub fn loss_spelled() -> Result<String, Error> {
    let output = example()?.trace.output;
    let squares: Vec<String> = output
        .row(THE)
        .iter()
        .zip(&target())
        .map(|(&is, &wanted)| format!("({} - {})^2", number_tex(is, 2), number_tex(wanted, 0)))
        .collect();
    let sum = number_tex(loss_of(&output), 2);
    Ok(format!(r"\tfrac12 \left( {} \right) = {sum}", squares.join(" + ")))
}

/// `dO`: the gradient of the output.
///
/// # Errors
///
/// Those of [`backward`].
pub fn d_output() -> Result<Array2<f64>, Error> {
    Ok(backward()?.gradient.through.output)
}

/// Step 6 backwards: `dA = dO·Vᵀ`.
///
/// # Errors
///
/// Those of [`backward`].
pub fn d_weights() -> Result<Array2<f64>, Error> {
    Ok(backward()?.gradient.through.weights)
}

/// Step 6 backwards, one number of it: the error of “the” times cat's value, in TeX.
///
/// # Errors
///
/// Those of [`backward`].
pub fn d_weight_spelled() -> Result<String, Error> {
    let Backward { example, gradient } = backward()?;
    Ok(spell::dot_product(&gradient.through.output.row(THE), &example.trace.v.row(CAT), 3, 2))
}

/// Step 6 backwards: `dV = Aᵀ·dO`.
///
/// # Errors
///
/// Those of [`backward`].
pub fn d_v() -> Result<Array2<f64>, Error> {
    Ok(backward()?.gradient.through.v)
}

/// Step 6 backwards, one number of it: cat's weight times the error of “the”, in TeX.
///
/// # Errors
///
/// Those of [`backward`].
pub fn d_value_spelled() -> Result<String, Error> {
    let Backward { example, gradient } = backward()?;
    let weight = array![example.trace.weights[[THE, CAT]]];
    let error = array![gradient.through.output[[THE, 0]]];
    Ok(spell::dot_product(&weight, &error, 3, 2))
}

/// Step 5 backwards: the average of a row's gradients by its own weights, in TeX.
///
/// # Errors
///
/// Those of [`backward`].
pub fn average_spelled() -> Result<String, Error> {
    let Backward { example, gradient } = backward()?;
    let (weights, d_weights) = (example.trace.weights.row(THE), gradient.through.weights.row(THE));
    Ok(spell::dot_product(&weights, &d_weights, 2, 2))
}

/// Step 5 backwards, line by line, for the row of “the”: the weights, their
/// gradients, those less their average, and that times the weights.
///
/// # Errors
///
/// Those of [`backward`].
pub fn softmax_backwards() -> Result<Array2<f64>, Error> {
    let Backward { example, gradient } = backward()?;
    let (weights, d_weights) = (example.trace.weights.row(THE), gradient.through.weights.row(THE));
    let above_average = &d_weights - weights.dot(&d_weights);
    let mut lines = Array2::zeros((4, TOKENS.len()));
    lines.row_mut(0).assign(&weights);
    lines.row_mut(1).assign(&d_weights);
    lines.row_mut(2).assign(&above_average);
    lines.row_mut(3).assign(&gradient.through.masked.row(THE));
    Ok(lines)
}

/// Steps 4 and 3 backwards: `dS`.
///
/// # Errors
///
/// Those of [`backward`].
pub fn d_scores() -> Result<Array2<f64>, Error> {
    Ok(backward()?.gradient.through.scores)
}

/// Step 2 backwards: `dQ = dS·K`.
///
/// # Errors
///
/// Those of [`backward`].
pub fn d_q() -> Result<Array2<f64>, Error> {
    Ok(backward()?.gradient.through.q)
}

/// Step 2 backwards, one number of it: the gradients of the scores of “the” times
/// the first number of each key, in TeX.
///
/// # Errors
///
/// Those of [`backward`].
pub fn d_query_spelled() -> Result<String, Error> {
    let Backward { example, gradient } = backward()?;
    let (d_scores, keys) = (gradient.through.scores.row(THE), example.trace.k.column(0));
    Ok(spell::dot_product(&d_scores, &keys, 2, 2))
}

/// Step 2 backwards: `dK = dSᵀ·Q`.
///
/// # Errors
///
/// Those of [`backward`].
pub fn d_k() -> Result<Array2<f64>, Error> {
    Ok(backward()?.gradient.through.k)
}

/// Step 1 backwards: `dW_Q = Xᵀ·dQ`.
///
/// # Errors
///
/// Those of [`backward`].
pub fn d_w_q() -> Result<Array2<f64>, Error> {
    Ok(backward()?.gradient.w_q)
}

/// Step 1 backwards: `dW_K = Xᵀ·dK`.
///
/// # Errors
///
/// Those of [`backward`].
pub fn d_w_k() -> Result<Array2<f64>, Error> {
    Ok(backward()?.gradient.w_k)
}

/// Step 1 backwards: `dW_V = Xᵀ·dV`.
///
/// # Errors
///
/// Those of [`backward`].
pub fn d_w_v() -> Result<Array2<f64>, Error> {
    Ok(backward()?.gradient.w_v)
}

/// Step 1 backwards, before the sum: what comes back to the embedding of “cat”
/// through its query, its key and its value.
///
/// # Errors
///
/// Those of [`backward`].
pub fn parts_of_d_cat() -> Result<Array2<f64>, Error> {
    let Backward { example: Example { x, head, .. }, gradient } = backward()?;
    let ways = [
        (head.w_q(), &gradient.through.q),
        (head.w_k(), &gradient.through.k),
        (head.w_v(), &gradient.through.v),
    ];
    let mut parts = Array2::zeros((ways.len(), MEANINGS.len()));
    for ((w, d_projection), mut part) in ways.into_iter().zip(parts.outer_iter_mut()) {
        let (d_x, _) = gradient::project(&x, w, d_projection)?;
        part.assign(&d_x.row(CAT));
    }
    Ok(parts)
}

/// Step 1 backwards: `dX`, the sum of what comes back on three ways.
///
/// # Errors
///
/// Those of [`backward`].
pub fn d_x() -> Result<Array2<f64>, Error> {
    Ok(backward()?.gradient.x)
}

/// The numbers that the head learns or is given: `W_Q`, `W_K`, `W_V` and `X`.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// `W_Q`, `W_K`, `W_V` and `X`, in this order.
    pub matrices: [Array2<f64>; 4],
}

/// The place of each matrix in [`Numbers`].
pub const W_Q: usize = 0;
/// The place of `W_K`.
pub const W_K: usize = 1;
/// The place of `W_V`.
pub const W_V: usize = 2;
/// The place of `X`.
pub const X: usize = 3;

impl Numbers {
    /// Those of the toy head.
    #[must_use]
    pub fn toy() -> Numbers {
        use crate::queries_keys_values::{key_weights, query_weights, value_weights};
        Numbers { matrices: [query_weights(), key_weights(), value_weights(), embeddings()] }
    }

    /// Sends the tokens through the head.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if the shapes do not fit.
    pub fn example(&self) -> Result<Example, Error> {
        let [w_q, w_k, w_v, x] = self.matrices.clone();
        Example::new(x, Head::new(w_q, w_k, w_v)?)
    }

    /// The loss with these numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if the shapes do not fit.
    pub fn loss(&self) -> Result<f64, Error> {
        Ok(loss_of(&self.example()?.trace.output))
    }

    /// The gradient of the loss with respect to each of these numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if the shapes do not fit.
    pub fn gradient(&self) -> Result<Numbers, Error> {
        let HeadGradient { x, w_q, w_k, w_v, .. } = Backward::new(self.example()?)?.gradient;
        Ok(Numbers { matrices: [w_q, w_k, w_v, x] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    /// The weights of “the” are 0.0803, 0.5212, 0.2323, 0.0860 and 0.0803, so that
    /// its output is (1.0745, 0.2581, 0.2133); less (2, 0, 0), squared and halved:
    /// (0.8566 + 0.0666 + 0.0455)/2.
    #[test]
    fn the_loss_is_that_worked_by_hand() {
        assert_abs_diff_eq!(loss().unwrap(), 0.4844, epsilon = 2e-4);
    }

    /// −0.9255·2 for “cat”; 0.2581 for “sat”; 0.2581·0.3 + 0.2133·0.8 for “on”;
    /// −0.9255·0.2 + 0.2133·0.9 for the others.
    #[test]
    fn the_gradients_of_the_weights_are_those_worked_by_hand() {
        let row = d_weights().unwrap().row(THE).to_owned();
        let expected = array![0.0069, -1.8510, 0.2581, 0.2481, 0.0069];
        assert_abs_diff_eq!(row, expected, epsilon = 2e-4);
    }

    #[test]
    fn the_parts_of_cat_add_up_to_its_row() {
        let sum = parts_of_d_cat().unwrap().sum_axis(ndarray::Axis(0));
        assert_abs_diff_eq!(sum, d_x().unwrap().row(CAT).to_owned(), epsilon = 1e-15);
    }
}
