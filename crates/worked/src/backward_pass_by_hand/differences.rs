//! The gradients held against finite differences: nudge a number of the head,
//! run it forward, and see what became of the loss.

use attention::{Error, Head, Options};
use ledger::{Axis, Figure, Ledger, Plot, Series};
use ndarray::Array2;

use super::{Numbers, W_K, W_Q, W_V, X, loss_of};
use crate::Claim;
use crate::queries_keys_values::{CAT, SMALL_WORD, THING};

/// How far a number is nudged each way in the table.
const NUDGE: f64 = 0.001;
/// The numbers nudged in the table: which matrix, row and column.
const NUDGED: [(usize, (usize, usize)); 4] =
    [(W_Q, (SMALL_WORD, 0)), (W_K, (THING, 0)), (W_V, (THING, 0)), (X, (CAT, THING))];
/// Their names.
const NAMES: [&str; 4] =
    ["W_Q: small word, a thing", "W_K: thing, a thing", "W_V: thing, “thing”", "X: cat, thing"];

/// Enters the values of the section.
pub fn enter(ledger: &mut Ledger) {
    ledger.enter("back.nudge", nudge).digits(3).about("how far a number is nudged up and down");
    ledger
        .enter("back.nudged", nudged_by_hand)
        .digits(6)
        .rows(&NAMES)
        .columns(&["loss, nudged down", "loss, nudged up", "slope", "gradient"])
        .about("the loss with one number nudged, the slope that follows, and the gradient");
    ledger
        .enter("back.differences", gradients_are_slopes)
        .about("all 56 gradients agree with finite differences, to a millionth of the largest");
    ledger
        .enter("back.steps", error_of_each_step)
        .digits(3)
        .about("how far a finite difference misses the gradient, against the size of the nudge");
}

/// How far a number is nudged.
#[must_use]
pub fn nudge() -> f64 {
    NUDGE
}

/// The loss with one number of the head nudged.
fn loss_nudged(
    numbers: &Numbers,
    matrix: usize,
    entry: (usize, usize),
    by: f64,
) -> Result<f64, Error> {
    let mut numbers = numbers.clone();
    numbers.matrices[matrix][entry] += by;
    numbers.loss()
}

/// The loss with one number nudged down and up, the slope between the two, and
/// the gradient.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn nudged_by_hand() -> Result<Array2<f64>, Error> {
    let (numbers, mut table) = (Numbers::toy(), Array2::zeros((NUDGED.len(), 4)));
    let gradient = numbers.gradient()?;
    for (&(matrix, entry), mut row) in NUDGED.iter().zip(table.outer_iter_mut()) {
        row[0] = loss_nudged(&numbers, matrix, entry, -NUDGE)?;
        row[1] = loss_nudged(&numbers, matrix, entry, NUDGE)?;
        row[2] = (row[1] - row[0]) / (2.0 * NUDGE);
        row[3] = gradient.matrices[matrix][entry];
    }
    Ok(table)
}

/// [`agrees_with_slopes`], of the toy head.
///
/// # Errors
///
/// The entry that does not agree.
pub fn gradients_are_slopes() -> Claim {
    let numbers = Numbers::toy();
    let gradient = numbers.gradient().map_err(|error| error.to_string())?;
    agrees_with_slopes(&numbers, &gradient)
}

/// Each number of a gradient is the slope that two nudged losses show, to a
/// millionth of the largest.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn agrees_with_slopes(numbers: &Numbers, gradient: &Numbers) -> Claim {
    const STEP: f64 = 1e-5;
    for (matrix, name) in ["W_Q", "W_K", "W_V", "X"].into_iter().enumerate() {
        let gradient = &gradient.matrices[matrix];
        let largest = gradient.fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
        for (entry, &exact) in gradient.indexed_iter() {
            let loss = |by| loss_nudged(numbers, matrix, entry, by).map_err(|e| e.to_string());
            let slope = (loss(STEP)? - loss(-STEP)?) / (2.0 * STEP);
            if (slope - exact).abs() > 1e-6 * largest {
                return Err(format!("in {name} at {entry:?} the slope is {slope}, not {exact}"));
            }
        }
    }
    Ok(())
}

/// How far finite differences miss the gradient of `W_Q`, against the nudge, in
/// double and in single precision.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn error_of_each_step() -> Result<Figure, Error> {
    let nudges =
        |smallest: i32| (-2 * smallest..=-2).rev().map(|half| 10_f64.powf(f64::from(half) / 2.0));
    let curve = |name: &str, nudges: Vec<f64>, loss: fn(&Numbers) -> Result<f64, Error>| {
        let point = |by| Ok((by, error_of_step(by, loss)?));
        let points: Result<Vec<_>, Error> = nudges.into_iter().map(point).collect();
        Ok::<_, Error>(Series { name: name.to_owned(), points: points? })
    };
    Ok(Figure {
        description: "Two valleys on logarithmic axes. From a large nudge on the right the error \
                      falls steeply as the nudge gets smaller, and then climbs again. In double \
                      precision the bottom is near a nudge of a hundred-thousandth, in single \
                      precision near a hundredth, and much higher."
            .to_owned(),
        plot: Plot::Lines {
            x: Axis::logarithmic("nudge"),
            y: Axis::logarithmic("largest error"),
            series: vec![
                curve("double precision", nudges(11).collect(), Numbers::loss)?,
                curve("single precision", nudges(6).collect(), loss_in_single_precision)?,
            ],
        },
    })
}

/// The largest error of the slopes of `W_Q` for one size of nudge.
fn error_of_step(by: f64, loss: fn(&Numbers) -> Result<f64, Error>) -> Result<f64, Error> {
    let numbers = Numbers::toy();
    let gradient = numbers.gradient()?;
    let mut largest: f64 = 0.0;
    for (entry, &exact) in gradient.matrices[W_Q].indexed_iter() {
        let nudged = |by: f64| {
            let mut numbers = numbers.clone();
            numbers.matrices[W_Q][entry] += by;
            loss(&numbers)
        };
        let slope = (nudged(by)? - nudged(-by)?) / (2.0 * by);
        largest = largest.max((slope - exact).abs());
    }
    Ok(largest)
}

/// The loss with every number and every operation of the head in single precision.
fn loss_in_single_precision(numbers: &Numbers) -> Result<f64, Error> {
    let [w_q, w_k, w_v, x] =
        numbers.matrices.each_ref().map(|matrix| matrix.mapv(|number| number as f32));
    let output = Head::new(w_q, w_k, w_v)?.attend(&x, Options::causal())?;
    Ok(loss_of(&output.mapv(f64::from)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gradient_that_is_off_is_told() {
        let numbers = Numbers::toy();
        let mut gradient = numbers.gradient().unwrap();
        gradient.matrices[W_K][[1, 2]] += 1e-4;
        let error = agrees_with_slopes(&numbers, &gradient).unwrap_err();
        assert!(error.starts_with("in W_K at (1, 2)"), "{error}");
    }

    #[test]
    fn the_valleys_lie_where_the_description_says() {
        let error = |by, loss| error_of_step(by, loss).unwrap();
        let double = |by| error(by, Numbers::loss);
        let single = |by| error(by, loss_in_single_precision);
        assert!(double(1e-5) < 1e-9 && double(1e-1) > 1e-5 && double(1e-11) > 1e-7);
        assert!(single(1e-2) < single(1e-4) && single(1e-2) > 1e3 * double(1e-5));
    }

    #[test]
    fn there_are_as_many_numbers_as_the_claim_says() {
        assert_eq!(Numbers::toy().matrices.map(|matrix| matrix.len()).iter().sum::<usize>(), 56);
    }
}
