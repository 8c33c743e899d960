//! What goes wrong: a start at zero, and two ways to be stuck.

use std::sync::LazyLock;

use attention::Head;
use learning::Random;
use learning::single_head::{D, D_MODEL, D_V, SPREAD, Task, Training};
use ledger::Ledger;
use ndarray::{Array1, Array2, s};

use super::exercises::narrow;
use super::runs::{Error, Previous, after, text};
use super::{POSITIONS, RATE, SEED, example, labels, words};
use crate::Claim;

/// How many steps the head that begins at zero has.
const FROM_ZERO: usize = 150;
/// How many steps the head that is stuck has.
const FOLLOWED: usize = 300;
/// A seed from which a head of size 1 does not find the word before.
const STUCK_SEED: u64 = 2;

/// Enters the values of the section.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("learn.zero.steps", zero_steps)
        .about("how many steps a head that began at zero has had");
    ledger.enter("learn.zero.loss", loss_from_zero).digits(4).about("its loss after these");
    ledger
        .enter("learn.zero.never.looks", zero_never_looks)
        .about("its query and key weights are still exactly 0");
    ledger.enter("learn.stuck.seed", stuck_seed).about("the seed of the head that is stuck");
    ledger.enter("learn.stuck.steps", stuck_steps).about("how many steps it has had");
    ledger.enter("learn.stuck.loss", stuck_loss).digits(4).about("its loss then");
    let labels = labels::<Previous>();
    ledger
        .enter("learn.stuck.attention", stuck_attention)
        .rows(&labels)
        .columns(&labels)
        .symbol("A")
        .about("the weights of attention of a head of size 1 that is stuck");
    ledger
        .enter("learn.stuck.keys", stuck_keys)
        .columns(&POSITIONS)
        .about("the keys of the positions in this head");
    ledger
        .enter("learn.stuck.alternates", stuck_does_not_alternate)
        .about("two neighbours among its first five keys have the same sign");
    ledger
        .enter("learn.stuck.behind", stuck_is_behind)
        .about("its loss is more than four times that of the head of size 1 that is not stuck");
}

/// A head of zeros, after [`FROM_ZERO`] steps of the first task.
fn from_zero() -> Result<&'static Training, Error> {
    static ZERO: LazyLock<Result<Training, Error>> = LazyLock::new(|| {
        let zeros = |columns| Array2::zeros((D_MODEL, columns));
        let head = Head::new(zeros(D), zeros(D), zeros(D_V)).map_err(text)?;
        after(Training::from_head(Task::Noun, head, SEED, RATE).map_err(text)?, FROM_ZERO)
    });
    ZERO.as_ref().map_err(Clone::clone)
}

/// How many steps the head that began at zero has had.
#[must_use]
pub fn zero_steps() -> usize {
    FROM_ZERO
}

/// The loss of the head that began at zero.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn loss_from_zero() -> Result<f64, Error> {
    Ok(from_zero()?.loss())
}

/// [`looks_nowhere`], of the head that began at zero.
///
/// # Errors
///
/// The largest weight that is not 0.
pub fn zero_never_looks() -> Claim {
    looks_nowhere(from_zero()?.head())
}

/// Every query and key weight is exactly 0.
///
/// # Errors
///
/// The largest weight that is not 0.
pub fn looks_nowhere(head: &Head<f64>) -> Claim {
    let weights = head.w_q().iter().chain(head.w_k());
    let largest = weights.fold(0.0, |largest: f64, weight| largest.max(weight.abs()));
    if largest == 0.0 { Ok(()) } else { Err(format!("one of them is {largest}")) }
}

/// A head of size `d` from a seed, about to learn the word before.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub(super) fn sized(d: usize, seed: u64) -> Result<Training, Error> {
    let mut random = Random::seeded(seed);
    let mut weights = |columns| random.matrix(D_MODEL, columns) * SPREAD;
    let head = Head::new(weights(d), weights(d), weights(D_V)).map_err(text)?;
    Training::from_head(Task::Previous, head, seed, RATE).map_err(text)
}

fn stuck() -> Result<&'static Training, Error> {
    static STUCK: LazyLock<Result<Training, Error>> =
        LazyLock::new(|| after(sized(1, STUCK_SEED)?, FOLLOWED));
    STUCK.as_ref().map_err(Clone::clone)
}

/// The seed of the head that is stuck.
#[must_use]
pub fn stuck_seed() -> u64 {
    STUCK_SEED
}

/// How many steps it has had.
#[must_use]
pub fn stuck_steps() -> usize {
    FOLLOWED
}

/// Its loss then.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn stuck_loss() -> Result<f64, Error> {
    Ok(stuck()?.loss())
}

/// Its weights of attention.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn stuck_attention() -> Result<Array2<f64>, Error> {
    stuck()?.attention(&example::<Previous>()?).map_err(text)
}

/// The keys of the positions in this head.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn stuck_keys() -> Result<Array1<f64>, Error> {
    Ok(stuck()?.head().w_k().slice(s![words().., 0]).to_owned())
}

/// [`same_sign_twice`], of the head that is stuck.
///
/// # Errors
///
/// Its keys.
pub fn stuck_does_not_alternate() -> Claim {
    same_sign_twice(&stuck_keys()?)
}

/// Of the first five numbers, two neighbours have the same sign.
///
/// # Errors
///
/// The numbers.
pub fn same_sign_twice(keys: &Array1<f64>) -> Claim {
    let looked_for: Vec<f64> = keys.iter().take(POSITIONS.len() - 1).copied().collect();
    if looked_for.windows(2).any(|pair| pair[0] * pair[1] > 0.0) {
        Ok(())
    } else {
        Err(format!("they are {looked_for:?}"))
    }
}

/// [`far_behind`], of the head that is stuck and the one that is not.
///
/// # Errors
///
/// Both losses.
pub fn stuck_is_behind() -> Claim {
    far_behind(stuck()?.loss(), narrow()?.losses()[FOLLOWED])
}

/// A loss is more than four times another.
///
/// # Errors
///
/// Both losses.
pub fn far_behind(loss: f64, other: f64) -> Claim {
    if loss > 4.0 * other { Ok(()) } else { Err(format!("they are {loss} and {other}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learning_the_weights::exercises::narrow_keys;
    use crate::learning_the_weights::runs::{Lesson as _, Noun};

    #[test]
    fn a_random_head_looks_somewhere() {
        assert!(looks_nowhere(Noun::run().unwrap().start.head()).is_err());
    }

    #[test]
    fn a_head_that_is_not_stuck_is_told() {
        assert!(same_sign_twice(&narrow_keys().unwrap()).is_err());
        assert!(far_behind(1.0, 0.5).is_err());
    }
}
