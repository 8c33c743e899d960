//! The exercises' solutions.

use attention::Error;
use attention::recipe::score;
use ledger::Ledger;
use ndarray::Array2;

use super::saturation::slopes;
use crate::Claim;

/// Enters the values of the exercises.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("root.exercise.hundred", typical_size_at_100)
        .digits(0)
        .about("the typical size of a dot product of 100 terms");
    ledger
        .enter("root.exercise.coins.variance", variance_of_coins)
        .about("the variance of the dot product over all queries and keys of three coins each");
    ledger
        .enter("root.exercise.coins.is.d", variance_of_coins_is_exact)
        .about("over all queries and keys of up to 5 coins the variance is exactly d");
    ledger
        .enter("root.exercise.half", steepest_at_one_half)
        .about("the slope of the weight of one key of two is largest where both have a half");
}

/// The typical size of a dot product of 100 terms: `√100`.
#[must_use]
pub fn typical_size_at_100() -> f64 {
    100_f64.sqrt()
}

/// The variance of the dot product over all queries and keys of three coins.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn variance_of_coins() -> Result<f64, Error> {
    variance_over_coins(3)
}

/// The variance of the dot product over every query and every key whose d
/// numbers are 1 or −1.
fn variance_over_coins(d: u32) -> Result<f64, Error> {
    let throws = Array2::from_shape_fn((1 << d, d as usize), |(throw, coin)| {
        if throw >> coin & 1 == 0 { 1.0 } else { -1.0 }
    });
    let scores = score(&throws, &throws)?;
    let mean = scores.sum() / scores.len() as f64;
    Ok(scores.mapv(|score| (score - mean) * (score - mean)).sum() / scores.len() as f64)
}

/// Over all queries and keys of coins the variance is d, with nothing left out
/// and nothing left to chance.
///
/// # Errors
///
/// The head size at which it is not.
pub fn variance_of_coins_is_exact() -> Claim {
    for d in 1..=5 {
        let variance = variance_over_coins(d).map_err(|error| error.to_string())?;
        if variance != f64::from(d) {
            return Err(format!("with {d} coins it is {variance}"));
        }
    }
    Ok(())
}

/// The slope of the weight of one key of two is largest at a difference of 0.
///
/// # Errors
///
/// The difference at which it is larger.
pub fn steepest_at_one_half() -> Claim {
    let slope = |difference: f64| {
        slopes(&ndarray::array![difference, 0.0])
            .map(|slopes| slopes[[0, 0]])
            .map_err(|error| error.to_string())
    };
    let at_one_half = slope(0.0)?;
    for tenth in (-100..=100).filter(|&tenth| tenth != 0) {
        let difference = f64::from(tenth) / 10.0;
        if slope(difference)? >= at_one_half {
            return Err(format!("at a difference of {difference} it is {}", slope(difference)?));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the 64 pairs, 8 score 3, 24 score 1, 24 score −1 and 8 score −3:
    /// (16·9 + 48·1)/64 = 3.
    #[test]
    fn three_coins_are_those_counted_by_hand() {
        assert_eq!(variance_of_coins(), Ok(3.0));
    }
}
