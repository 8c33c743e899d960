//! The exercises' solutions.

use std::sync::LazyLock;

use learning::single_head::{Training, WORDS};
use ledger::Ledger;
use ndarray::{Array1, Array2, s};

use super::practice::sized;
use super::runs::{Error, Lesson, Noun, Previous, text, to_the_end};
use super::{POSITIONS, RATE, SEED, example, labels, words};
use crate::Claim;

/// The words at which nothing is ever asked, by their places.
const NEVER_ASKED: std::ops::Range<usize> = 0..8;

/// Enters the values of the exercises.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("learn.exercise.four", guess_among_nouns)
        .digits(4)
        .about("the loss of a guess among four nouns");
    ledger
        .enter("learn.exercise.untouched", never_asked_never_moved)
        .about("the query weights of words at which nothing is asked are those of the start");
    ledger
        .enter("learn.exercise.twice", steps_at_twice_the_rate)
        .about("after how many steps the noun is learned at twice the rate");
    ledger
        .enter("learn.exercise.narrow.keys", narrow_keys)
        .columns(&POSITIONS)
        .about("the keys of the positions in a head of size 1 that has found the word before");
    ledger
        .enter("learn.exercise.narrow.queries", narrow_queries)
        .columns(&POSITIONS)
        .about("the queries of the positions in the same head");
    let labels = labels::<Previous>();
    ledger
        .enter("learn.exercise.narrow.attention", narrow_attention)
        .rows(&labels)
        .columns(&labels)
        .symbol("A")
        .about("the weights of attention of this head");
    ledger
        .enter("learn.exercise.narrow.alternates", narrow_alternates)
        .about("from the first to the fifth, its keys change their sign at each position and grow");
}

/// The loss of a guess among four.
#[must_use]
pub fn guess_among_nouns() -> f64 {
    4_f64.ln()
}

/// [`unmoved`], of the training of the text.
///
/// # Errors
///
/// The word whose weights have moved.
pub fn never_asked_never_moved() -> Claim {
    let run = Noun::run()?;
    unmoved(run.start.head().w_q(), run.end.head().w_q())
}

/// The rows of the words at which nothing is asked are the same, to the last bit.
///
/// # Errors
///
/// The word whose weights have moved.
pub fn unmoved(before: &Array2<f64>, after: &Array2<f64>) -> Claim {
    match NEVER_ASKED.into_iter().find(|&word| before.row(word) != after.row(word)) {
        Some(word) => Err(format!("those of “{}” have moved", WORDS[word])),
        None => Ok(()),
    }
}

/// After how many steps the noun is learned at twice the rate.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn steps_at_twice_the_rate() -> Result<usize, Error> {
    Ok(to_the_end(Training::new(Noun::TASK, SEED, 2.0 * RATE).map_err(text)?)?.steps())
}

/// A head of size 1 that has learned the word before.
pub(super) fn narrow() -> Result<&'static Training, Error> {
    static NARROW: LazyLock<Result<Training, Error>> =
        LazyLock::new(|| to_the_end(sized(1, SEED)?));
    NARROW.as_ref().map_err(Clone::clone)
}

/// The keys of the positions in this head.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn narrow_keys() -> Result<Array1<f64>, Error> {
    Ok(narrow()?.head().w_k().slice(s![words().., 0]).to_owned())
}

/// The queries of the positions in this head.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn narrow_queries() -> Result<Array1<f64>, Error> {
    Ok(narrow()?.head().w_q().slice(s![words().., 0]).to_owned())
}

/// Its weights of attention.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn narrow_attention() -> Result<Array2<f64>, Error> {
    narrow()?.attention(&example::<Previous>()?).map_err(text)
}

/// [`alternates`], of the keys that are ever looked for.
///
/// # Errors
///
/// The keys.
pub fn narrow_alternates() -> Claim {
    alternates(&narrow_keys()?)
}

/// Each of the first five numbers has another sign than the one before, and is larger.
///
/// # Errors
///
/// The numbers.
pub fn alternates(keys: &Array1<f64>) -> Claim {
    let looked_for: Vec<f64> = keys.iter().take(POSITIONS.len() - 1).copied().collect();
    let right = |pair: &[f64]| pair[0] * pair[1] < 0.0 && pair[0].abs() < pair[1].abs();
    if looked_for.windows(2).all(right) { Ok(()) } else { Err(format!("they are {looked_for:?}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_at_which_something_was_asked_has_moved() {
        let run = Noun::run().unwrap();
        let told = unmoved(run.start.head().w_k(), run.end.head().w_k()).unwrap_err();
        assert!(told.contains("“the”"), "{told}");
    }

    #[test]
    fn keys_that_only_grow_do_not_alternate() {
        assert!(alternates(&Array1::linspace(1.0, 6.0, 6)).is_err());
    }
}
