//! The toy head of the chapters before, with its one sentence and its one target:
//! not one step of learning, but a hundred.

use attention::Error;
use ledger::Ledger;
use ndarray::Array2;

use crate::Claim;
use crate::backward_pass_by_hand::step::rate;
use crate::backward_pass_by_hand::{Numbers, W_K, W_Q, W_V};
use crate::queries_keys_values::{CAT, MATCHES, MEANINGS, THE};

/// After how many steps the table looks.
const MOMENTS: [usize; 4] = [0, 1, 10, 100];
const NAMES: [&str; 4] = ["at the start", "after 1 step", "after 10 steps", "after 100 steps"];

/// Enters the values of the section.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("learn.toy", course)
        .digits(3)
        .rows(&NAMES)
        .columns(&["loss", "“the” to “cat”"])
        .about("the toy head's loss and its attention to “cat”, at four moments");
    ledger
        .enter("learn.toy.w-q", query_weights)
        .rows(&MEANINGS)
        .columns(&MATCHES)
        .symbol("W_Q")
        .about("the toy head's query weights after 100 steps");
    ledger
        .enter("learn.toy.falls", loss_falls)
        .about("the loss falls from each of these moments to the next");
}

/// The toy head after so many steps at the rate of the chapter before.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn after(steps: usize) -> Result<Numbers, Error> {
    let mut numbers = Numbers::toy();
    for _ in 0..steps {
        let gradient = numbers.gradient()?;
        for matrix in [W_Q, W_K, W_V] {
            numbers.matrices[matrix].scaled_add(-rate(), &gradient.matrices[matrix]);
        }
    }
    Ok(numbers)
}

/// The loss and the attention to “cat”, at each moment.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn course() -> Result<Array2<f64>, Error> {
    let mut rows = Array2::zeros((MOMENTS.len(), 2));
    for (mut row, steps) in rows.outer_iter_mut().zip(MOMENTS) {
        let numbers = after(steps)?;
        row[0] = numbers.loss()?;
        row[1] = numbers.example()?.trace.weights[[THE, CAT]];
    }
    Ok(rows)
}

/// `W_Q` after 100 steps.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn query_weights() -> Result<Array2<f64>, Error> {
    let [w_q, ..] = after(100)?.matrices;
    Ok(w_q)
}

/// [`falls`], of the toy head.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn loss_falls() -> Claim {
    falls(&course().map_err(|error| error.to_string())?)
}

/// The first column falls from each row to the next.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn falls(course: &Array2<f64>) -> Claim {
    let losses = course.column(0).to_vec();
    if losses.windows(2).all(|pair| pair[1] < pair[0]) {
        Ok(())
    } else {
        Err(format!("the losses are {losses:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backward_pass_by_hand::step::stepped;

    #[test]
    fn one_step_is_that_of_the_chapter_before() {
        assert_eq!(after(1).unwrap().matrices, stepped(rate()).unwrap().matrices);
    }

    #[test]
    fn a_loss_that_rises_is_told() {
        let mut course = course().unwrap();
        course[[3, 0]] = 1.0;
        assert!(falls(&course).unwrap_err().contains("1.0"));
    }
}
