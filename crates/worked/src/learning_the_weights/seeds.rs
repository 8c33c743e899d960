//! The same training from other random numbers: where it ends, and whether it has
//! found the same.

use std::sync::LazyLock;

use learning::single_head::{State, Training};
use ledger::Ledger;
use ndarray::{ArrayRef2, s};

use super::found::noun_fits_of;
use super::runs::{Error, Lesson, Noun, text, to_the_end};
use super::{RATE, SEED};
use crate::Claim;

/// The seeds of the table, beside that of the text.
const SEEDS: [u64; 2] = [1, 2];

/// Enters the values of the section.
pub fn enter(ledger: &mut Ledger) {
    enter_seed::<1>(ledger);
    enter_seed::<2>(ledger);
    enter_seed::<SEED>(ledger);
    ledger
        .enter("learn.seeds.learned", every_seed_learns)
        .about("the task is learned from each of the seeds");
    ledger
        .enter("learn.seeds.weights", weights_alike)
        .about("the correlation of the query weights that two seeds end with");
    ledger
        .enter("learn.seeds.fits", fits_alike)
        .about("the correlation of how well the words fit, with the same two seeds");
}

fn enter_seed<const N: u64>(ledger: &mut Ledger) {
    ledger
        .enter(&format!("learn.seed.{N}.steps"), steps::<N>)
        .about("after how many steps the noun is learned from this seed");
    ledger.enter(&format!("learn.seed.{N}.loss"), loss::<N>).digits(4).about("the loss at the end");
    ledger
        .enter(&format!("learn.seed.{N}.attends"), attends::<N>)
        .digits(3)
        .about("the attention that the noun gets at the end, on average");
}

/// The training of the first task from a seed, at its end.
fn trained(seed: u64) -> Result<&'static Training, Error> {
    static TRAINED: LazyLock<Result<Vec<Training>, Error>> = LazyLock::new(|| {
        let from = |seed| to_the_end(Training::new(Noun::TASK, seed, RATE).map_err(text)?);
        SEEDS.into_iter().map(from).collect()
    });
    if seed == SEED {
        return Ok(&Noun::run()?.end);
    }
    let place = SEEDS.iter().position(|&other| other == seed).ok_or("no such seed")?;
    Ok(&TRAINED.as_ref().map_err(Clone::clone)?[place])
}

/// After how many steps the noun is learned.
///
/// # Errors
///
/// None that can happen: the seed is one of the table.
pub fn steps<const N: u64>() -> Result<usize, Error> {
    Ok(trained(N)?.steps())
}

/// The loss at the end.
///
/// # Errors
///
/// None that can happen: the seed is one of the table.
pub fn loss<const N: u64>() -> Result<f64, Error> {
    Ok(trained(N)?.loss())
}

/// The attention that the noun gets at the end.
///
/// # Errors
///
/// None that can happen: the seed is one of the table.
pub fn attends<const N: u64>() -> Result<f64, Error> {
    Ok(trained(N)?.attention_to_source())
}

/// [`all_learned`], of the seeds of the table.
///
/// # Errors
///
/// The state of the one that has not.
pub fn every_seed_learns() -> Claim {
    let seeds = SEEDS.into_iter().chain([SEED]);
    all_learned(&seeds.map(|seed| Ok(trained(seed)?.state())).collect::<Result<Vec<_>, Error>>()?)
}

/// Every training has learned its task.
///
/// # Errors
///
/// The state of the one that has not.
pub fn all_learned(states: &[State]) -> Claim {
    match states.iter().find(|&&state| state != State::Learned) {
        Some(state) => Err(format!("one of them is {state:?}")),
        None => Ok(()),
    }
}

/// The correlation of the query weights that two seeds end with, in the rows of
/// the words that ask.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn weights_alike() -> Result<f64, Error> {
    let [one, other] = [trained(SEED)?, trained(SEEDS[0])?].map(|training| training.head().w_q());
    Ok(correlation(&one.slice(s![8..12, ..]), &other.slice(s![8..12, ..])))
}

/// The correlation of how well the words fit each other, with the same two seeds.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn fits_alike() -> Result<f64, Error> {
    Ok(correlation(&noun_fits_of(trained(SEED)?)?, &noun_fits_of(trained(SEEDS[0])?)?))
}

/// How alike two tables are: their covariance over the product of their standard deviations.
fn correlation(one: &ArrayRef2<f64>, other: &ArrayRef2<f64>) -> f64 {
    let centred = |table: &ArrayRef2<f64>| table - table.mean().unwrap_or_default();
    let (one, other) = (centred(one), centred(other));
    let dot = |a: &ArrayRef2<f64>, b: &ArrayRef2<f64>| (a * b).sum();
    dot(&one, &other) / (dot(&one, &one) * dot(&other, &other)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::array;

    #[test]
    fn a_table_correlates_with_itself_and_not_with_its_opposite() {
        let table = array![[1.0, 2.0], [5.0, 0.0]];
        assert_abs_diff_eq!(correlation(&table, &(&table * 3.0 + 1.0)), 1.0, epsilon = 1e-15);
        assert_abs_diff_eq!(correlation(&table, &-&table), -1.0, epsilon = 1e-15);
        let other = array![[2.0, 4.0], [3.0, 3.0]];
        // (−1, 0, 3, −2)·(−1, 1, 0, 0) = 1, over √(14·2).
        assert_abs_diff_eq!(correlation(&table, &other), 1.0 / 28_f64.sqrt(), epsilon = 1e-15);
    }

    #[test]
    fn a_seed_that_fails_is_told() {
        assert!(all_learned(&[State::Learned, State::Stopped]).unwrap_err().contains("Stopped"));
    }
}
