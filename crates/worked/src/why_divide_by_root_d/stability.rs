//! What large scores do to the computer's numbers: how far an exponential
//! reaches in each format, and how many rows overflow it.

use attention::Error;
use attention::recipe::{default_scale, scale, score, softmax};
use learning::Random;
use ledger::Ledger;
use ndarray::{Array2, array};

use super::saturation::{D, KEYS};
use crate::Claim;

/// How many rows of random scores are drawn.
const ROWS: usize = 1000;

/// A format of numbers: its largest number, and its smallest above 0.
struct Format {
    largest: f64,
    smallest: f64,
}

/// Half precision, the 16-bit float of IEEE 754: (2 − 2⁻¹⁰)·2¹⁵ and 2⁻²⁴.
const HALF: Format = Format { largest: 65_504.0, smallest: 1.0 / 16_777_216.0 };
/// Single precision: (2 − 2⁻²³)·2¹²⁷ and 2⁻¹⁴⁹.
const SINGLE: Format = Format { largest: f32::MAX as f64, smallest: f32::from_bits(1) as f64 };
/// Double precision: (2 − 2⁻⁵²)·2¹⁰²³ and 2⁻¹⁰⁷⁴.
const DOUBLE: Format = Format { largest: f64::MAX, smallest: f64::from_bits(1) };

/// Enters the values of the section.
pub fn enter(ledger: &mut Ledger) {
    ledger.enter("root.range.half.above", half_above).digits(1).about(ABOVE);
    ledger.enter("root.range.half.below", half_below).digits(1).about(BELOW);
    ledger.enter("root.range.single.above", single_above).digits(1).about(ABOVE);
    ledger.enter("root.range.single.below", single_below).digits(1).about(BELOW);
    ledger.enter("root.range.double.above", double_above).digits(1).about(ABOVE);
    ledger.enter("root.range.double.below", double_below).digits(1).about(BELOW);
    ledger
        .enter("root.overflow.rows", rows)
        .about("how many rows of 32 random scores are drawn, d = 64");
    ledger
        .enter("root.overflow.unscaled", overflowing_unscaled)
        .about("how many of them hold a score whose exponential overflows half precision");
    ledger
        .enter("root.overflow.scaled", overflowing_scaled)
        .about("how many of them do once they are scaled");
    ledger
        .enter("root.shift.changes.nothing", shift_changes_nothing)
        .about("adding a number to all scores of a row changes none of its weights");
}

const ABOVE: &str = "the largest score whose exponential this format can hold";
const BELOW: &str = "the smallest score whose exponential is above 0 in this format";

/// The largest score whose exponential half precision can hold.
#[must_use]
pub fn half_above() -> f64 {
    HALF.largest.ln()
}

/// The smallest score whose exponential is above 0 in half precision.
#[must_use]
pub fn half_below() -> f64 {
    HALF.smallest.ln()
}

/// The largest score whose exponential single precision can hold.
#[must_use]
pub fn single_above() -> f64 {
    SINGLE.largest.ln()
}

/// The smallest score whose exponential is above 0 in single precision.
#[must_use]
pub fn single_below() -> f64 {
    SINGLE.smallest.ln()
}

/// The largest score whose exponential double precision can hold.
#[must_use]
pub fn double_above() -> f64 {
    DOUBLE.largest.ln()
}

/// The smallest score whose exponential is above 0 in double precision.
#[must_use]
pub fn double_below() -> f64 {
    DOUBLE.smallest.ln()
}

/// How many rows are drawn.
#[must_use]
pub fn rows() -> usize {
    ROWS
}

/// How many rows overflow half precision without the scale.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn overflowing_unscaled() -> Result<usize, Error> {
    overflowing(1.0)
}

/// How many rows overflow half precision with the scale.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn overflowing_scaled() -> Result<usize, Error> {
    overflowing(default_scale(D))
}

/// How many rows hold a score whose exponential half precision cannot.
fn overflowing(factor: f64) -> Result<usize, Error> {
    let mut random = Random::seeded(64);
    let scores = score(&random.matrix(ROWS, D), &random.matrix(KEYS, D))?;
    let limit = half_above();
    let overflows = |row: &ndarray::ArrayView1<f64>| row.iter().any(|&score| score > limit);
    Ok(scale(&scores, factor).outer_iter().filter(overflows).count())
}

/// [`same_weights`], of the recipe's softmax.
///
/// # Errors
///
/// The number that changed a weight, and by how much.
pub fn shift_changes_nothing() -> Claim {
    same_weights(softmax)
}

/// A softmax gives the same weights, whatever is added to all scores of a row.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn same_weights(softmax: impl Fn(&ndarray::ArrayRef2<f32>) -> Array2<f32>) -> Claim {
    let scores = array![[2.0_f32, 1.0, 0.0, -3.0]];
    for shift in [-300.0, -100.0, 20.0, 100.0, 300.0] {
        let difference = softmax(&(&scores + shift)) - softmax(&scores);
        if let Some(by) = difference.iter().find(|by| by.is_nan() || by.abs() > 1e-6) {
            return Err(format!("{shift} added to every score changes a weight by {by}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ln 65504 = 11.0899; ln 2⁻²⁴ = −24·0.693147; ln 2¹²⁸ = 88.7228; ln 2⁻¹⁴⁹ = −103.279.
    #[test]
    fn the_ranges_are_those_of_a_table_of_logarithms() {
        let near = |value: f64, expected: f64| (value - expected).abs() < 1e-3;
        assert!(near(half_above(), 11.0899) && near(half_below(), -16.6355));
        assert!(near(single_above(), 88.7228) && near(single_below(), -103.279));
        assert!(near(double_above(), 709.783) && near(double_below(), -744.440));
    }

    /// The chance that none of 32 scores is above 11.09, which is 1.386 standard
    /// deviations of 8: 0.917^32 = 0.063. (The rows share their keys.)
    #[test]
    fn about_as_many_rows_overflow_as_a_bell_says() {
        let overflowing = overflowing_unscaled().unwrap();
        assert!((880..=980).contains(&overflowing), "{overflowing}");
    }

    #[test]
    fn a_softmax_without_the_largest_subtracted_fails_the_claim() {
        let naive = |scores: &ndarray::ArrayRef2<f32>| scores.exp() / scores.exp().sum();
        assert!(same_weights(naive).unwrap_err().starts_with("-300 added"));
    }
}
