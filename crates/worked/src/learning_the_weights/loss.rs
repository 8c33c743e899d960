//! The loss of a prediction: how surprising the right word was, and what the
//! surprise says to each output.

use attention::{Options, recipe};
use learning::single_head::{Question, WORDS};
use ledger::{Ledger, number_tex};
use ndarray::{Array2, Axis, array};

use super::runs::{Error, Lesson, Noun, Previous, text};
use super::{example, words};
use crate::Claim;

/// The probabilities of the table, and their names.
const PROBABILITIES: [f64; 5] = [1.0, 1.0 / 2.0, 1.0 / 4.0, 1.0 / 12.0, 1.0 / 100.0];
const NAMES: [&str; 5] = ["1", "1 of 2", "1 of 4", "1 of 12", "1 of 100"];

/// Enters the values of the section.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("learn.surprise", surprises)
        .digits(3)
        .rows(&NAMES)
        .columns(&["probability", "loss"])
        .about("the loss for some probabilities of the right word");
    ledger.enter("learn.guess", guess).digits(4).about("the loss of a guess among all words");
    ledger
        .enter("learn.miss", predictions)
        .digits(3)
        .rows(&["output", "probability", "gradient"])
        .columns(&WORDS)
        .about("what the untrained head says at the last word, and what the loss makes of it");
    ledger.enter("learn.miss.loss", example_loss).about("the loss of this one answer, written out");
    ledger
        .enter("learn.miss.sums.to.zero", misses_sum_to_zero)
        .about("the gradient of the outputs adds up to 0");
    ledger
        .enter("learn.noun.start.loss", start_loss::<Noun>)
        .digits(4)
        .about("the loss of the random head, asked for the noun");
    ledger
        .enter("learn.previous.start.loss", start_loss::<Previous>)
        .digits(4)
        .about("the loss of the random head, asked for the word before");
}

/// Some probabilities, and the loss `−ln p` of each.
#[must_use]
pub fn surprises() -> Array2<f64> {
    let mut rows = Array2::zeros((PROBABILITIES.len(), 2));
    for (mut row, p) in rows.outer_iter_mut().zip(PROBABILITIES) {
        // No minus before the 0 of certainty.
        row.assign(&array![p, -p.ln() + 0.0]);
    }
    rows
}

/// The loss of giving every word the same probability: `ln 12`.
#[must_use]
pub fn guess() -> f64 {
    (words() as f64).ln()
}

/// The last question of the example, and the output of the untrained head there.
fn asked() -> Result<(Question, usize, Array2<f64>), Error> {
    let (sentence, run) = (example::<Noun>()?, Noun::run()?);
    let question = *sentence.questions().last().ok_or("the example asks nothing")?;
    let output = run.start.head().attend(&sentence.embeddings(), Options::causal());
    let row = output.map_err(text)?.row(question.at).to_owned();
    Ok((question, sentence.tokens()[question.source], row.insert_axis(Axis(0))))
}

/// At the last word of the example: the output of the untrained head, the
/// probabilities that softmax makes of it, and the gradient of the loss.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn predictions() -> Result<Array2<f64>, Error> {
    let (_, answer, output) = asked()?;
    let probabilities = recipe::softmax(&output);
    let mut gradient = probabilities.clone();
    gradient[[0, answer]] -= 1.0;
    let rows = [output.view(), probabilities.view(), gradient.view()];
    ndarray::concatenate(Axis(0), &rows).map_err(text)
}

/// The loss of this answer, in TeX.
///
/// # Errors
///
/// Those of [`predictions`].
pub fn example_loss() -> Result<String, Error> {
    let (_, answer, output) = asked()?;
    let probability = recipe::softmax(&output)[[0, answer]];
    let [p, loss] = [number_tex(probability, 3), number_tex(-probability.ln(), 2)];
    Ok(format!(r"-\ln {p} = {loss}"))
}

/// [`sums_to_zero`], of the example.
///
/// # Errors
///
/// What it adds up to instead.
pub fn misses_sum_to_zero() -> Claim {
    sums_to_zero(&predictions()?)
}

/// The last of three rows adds up to 0.
///
/// # Errors
///
/// What it adds up to instead.
pub fn sums_to_zero(predictions: &Array2<f64>) -> Claim {
    let sum = predictions.row(2).sum();
    if sum.abs() < 1e-14 { Ok(()) } else { Err(format!("it adds up to {sum}")) }
}

/// The loss of the random head in the exam.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn start_loss<L: Lesson>() -> Result<f64, Error> {
    Ok(L::run()?.start.loss())
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn the_probabilities_are_those_of_the_outputs() {
        let rows = predictions().unwrap();
        assert_abs_diff_eq!(rows.row(1).sum(), 1.0, epsilon = 1e-14);
        let odds = rows[[1, 0]] / rows[[1, 1]];
        assert_abs_diff_eq!(odds, (rows[[0, 0]] - rows[[0, 1]]).exp(), epsilon = 1e-12);
    }

    #[test]
    fn a_gradient_without_the_right_answer_does_not_add_up_to_zero() {
        let mut rows = predictions().unwrap();
        rows.row_mut(2).fill(0.1);
        assert!(sums_to_zero(&rows).is_err());
    }
}
