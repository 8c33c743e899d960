//! The exercises' solutions.

use learning::grammar::PERIODS;
use learning::norm::normalise;
use learning::patterns::abilities;
use learning::training::SIZES;
use learning::vocabulary::WORDS;
use ledger::Ledger;
use ndarray::{Array1, Array2, array};

use super::found::{INDUCTION, PREVIOUS, SUBJECT, best};
use super::{measured, reader};
use crate::Claim;

/// Enters the values of the exercises.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("patterns.exercise.norm", normalised)
        .digits(1)
        .about("the row (3, −4, 0, 0), normalised");
    ledger
        .enter("patterns.exercise.norm.longer", longer_is_the_same)
        .about("a row ten times as long gives the same");
    ledger
        .enter("patterns.exercise.weights", weights_add_up)
        .about("the weights of all parts add up to the number of weights");
    ledger
        .enter("patterns.exercise.layer", weights_of_a_layer)
        .about("how many weights a layer has");
    ledger
        .enter("patterns.exercise.first-round", first_round)
        .digits(1)
        .about("how many of the 32 predictions fall into the first round, on average");
    ledger
        .enter("patterns.exercise.floor", floor_of_repeats)
        .about("the loss on repeats of whoever guesses the first round and knows the rest");
    ledger
        .enter("patterns.exercise.above.floor", repeats_cost_more_than_the_floor)
        .about("the model's loss on repeats is above that");
    ledger
        .enter("patterns.exercise.both", copies_without_both)
        .about("how often it copies without the previous-token and the induction head");
    ledger
        .enter("patterns.exercise.subject", agrees_without_three)
        .about("how often it agrees without all three found heads");
}

/// The row (3, −4, 0, 0), normalised.
#[must_use]
pub fn normalised() -> Array1<f64> {
    unit(1.0)
}

/// The row (3, −4, 0, 0) times a length, normalised.
fn unit(length: f64) -> Array1<f64> {
    let row: Array2<f64> = array![[3.0, -4.0, 0.0, 0.0]] * length;
    normalise(&row, &Array1::ones(4)).output.row(0).to_owned()
}

/// A row ten times as long is the same once normalised, to a part in a million.
///
/// # Errors
///
/// Both, if they are apart.
pub fn longer_is_the_same() -> Claim {
    let (once, ten_times) = (unit(1.0), unit(10.0));
    let near = once.iter().zip(&ten_times).all(|(a, b)| (a - b).abs() < 1e-5);
    if near { Ok(()) } else { Err(format!("{once} is not {ten_times}")) }
}

/// How many weights a layer has: a gain for each number of a word, and four
/// matrices.
#[must_use]
pub fn weights_of_a_layer() -> usize {
    SIZES.width + 4 * SIZES.width * SIZES.heads * SIZES.head_size
}

/// The weights of all parts add up to those of the model.
///
/// # Errors
///
/// Both numbers, if they differ.
pub fn weights_add_up() -> Claim {
    let rows = 2 * SIZES.words + SIZES.context + 1;
    let sum = rows * SIZES.width + SIZES.layers * weights_of_a_layer();
    let all = SIZES.parameters();
    if sum == all { Ok(()) } else { Err(format!("{sum} is not {all}")) }
}

/// How many of the predictions of a text fall into the first round, where nobody
/// can know: on average over the periods.
#[must_use]
pub fn first_round() -> f64 {
    PERIODS.map(|period| period as f64).sum::<f64>() / PERIODS.len() as f64
}

/// The loss of whoever knows nothing of the first round but that there is no full
/// stop, and everything of the rest.
#[must_use]
pub fn floor_of_repeats() -> f64 {
    first_round() / SIZES.context as f64 * ((WORDS.len() - 1) as f64).ln()
}

/// The model's loss on repeats is above the floor.
///
/// # Errors
///
/// Both, if it is not.
pub fn repeats_cost_more_than_the_floor() -> Claim {
    let (loss, floor) = (measured()?.all.loss_on_repeats, floor_of_repeats());
    if loss > floor { Ok(()) } else { Err(format!("{loss} is not above {floor}")) }
}

/// What the model can do without the best heads of some patterns.
fn without(patterns: &[super::found::Pattern]) -> Result<learning::patterns::Abilities, String> {
    let heads: Result<Vec<_>, String> = patterns.iter().map(|&pattern| best(pattern)).collect();
    abilities(reader()?.model(), &super::sample(), &heads?).map_err(|error| error.to_string())
}

/// How often the model copies without the previous-token and the induction head.
///
/// # Errors
///
/// Those of [`measured`].
pub fn copies_without_both() -> Result<f64, String> {
    Ok(without(&[PREVIOUS, INDUCTION])?.copying)
}

/// How often the model agrees without all three found heads.
///
/// # Errors
///
/// Those of [`measured`].
pub fn agrees_without_three() -> Result<f64, String> {
    Ok(without(&[PREVIOUS, INDUCTION, SUBJECT])?.agreement)
}

#[cfg(test)]
mod tests {
    use super::*;
    use learning::Random;
    use learning::grammar::repeats;

    /// The average period of the texts themselves: the periods are equally likely.
    #[test]
    fn the_first_round_is_as_long_as_in_the_texts() {
        let mut random = Random::seeded(8);
        let period = |words: &[usize]| {
            (1..words.len()).find(|&p| (1 + p..words.len()).all(|at| words[at] == words[at - p]))
        };
        let periods: Vec<usize> =
            (0..2000).filter_map(|_| period(&repeats(&mut random, 33))).collect();
        let mean = periods.iter().sum::<usize>() as f64 / periods.len() as f64;
        assert!((mean - first_round()).abs() < 0.3, "{mean}");
    }
}
