//! The attention maps of the heads that were found, each on a sentence that no
//! training has seen, and what the model expects next.

use learning::reader::Reading;
use learning::vocabulary::{Number, WORDS, verbs};
use ledger::Ledger;
use ndarray::{Array1, Array2};

use super::found::{INDUCTION, PREVIOUS, Pattern, SUBJECT, best};
use super::reader;
use crate::Claim;

/// The words of a sentence whose every token should look at the one before.
pub const IN_ORDER: [&str; 8] = [".", "the", "young", "king", "near", "the", "foxes", "waits"];
/// Words in no order, of which the first three come again.
pub const AGAIN: [&str; 8] = [".", "king", "often", "old", "dogs", "king", "often", "old"];
/// A subject, and a noun of the other number behind it; the pair is held out.
pub const BIRDS: [&str; 7] = [".", "the", "birds", "near", "the", "old", "cat"];
/// The place of the subject, and of the noun that predicts the verb.
pub const SUBJECT_AT: usize = 2;
/// The last place of [`BIRDS`].
pub const CAT: usize = 6;

/// Enters the values of this file.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("patterns.map.previous", previous_map)
        .rows(&IN_ORDER)
        .columns(&IN_ORDER)
        .symbol("A")
        .about("the attention of the previous-token head");
    ledger
        .enter("patterns.map.induction", induction_map)
        .rows(&AGAIN)
        .columns(&AGAIN)
        .symbol("A")
        .about("the attention of the induction head, on words that come again");
    ledger
        .enter("patterns.map.subject", subject_map)
        .rows(&BIRDS)
        .columns(&BIRDS)
        .symbol("A")
        .about("the attention of the subject head, with a noun that distracts");
    ledger
        .enter("patterns.map.subject.weight", weight_of_subject)
        .about("how much of its attention “cat” gives to “birds” in the subject head");
    ledger
        .enter("patterns.next.again", next_again)
        .about("the probability that “dogs” comes next, as it did before");
    ledger
        .enter("patterns.next", next_verb)
        .rows(&["all heads on", "without the subject head"])
        .columns(&["verbs for one", "verbs for many"])
        .about("the probability of a verb of each number after “the birds near the old cat”");
    ledger
        .enter("patterns.next.flips", verb_flips)
        .about("without the subject head verbs of the wrong number are likelier");
}

/// Reads the words of a sentence, the full stop included.
fn read(words: &[&str], off: &[(usize, usize)]) -> Result<Reading, String> {
    reader()?.read(&words.join(" "), off).map_err(|error| error.to_string())
}

/// The attention map of the best head of a pattern.
fn map(words: &[&str], pattern: Pattern) -> Result<Array2<f32>, String> {
    let (layer, head) = best(pattern)?;
    Ok(read(words, &[])?.maps[layer][head].clone())
}

/// Where the previous-token head looks.
///
/// # Errors
///
/// Those of [`reader`].
pub fn previous_map() -> Result<Array2<f32>, String> {
    map(&IN_ORDER, PREVIOUS)
}

/// Where the induction head looks.
///
/// # Errors
///
/// Those of [`reader`].
pub fn induction_map() -> Result<Array2<f32>, String> {
    map(&AGAIN, INDUCTION)
}

/// Where the subject head looks.
///
/// # Errors
///
/// Those of [`reader`].
pub fn subject_map() -> Result<Array2<f32>, String> {
    map(&BIRDS, SUBJECT)
}

/// How much of its attention “cat” gives to “birds”.
///
/// # Errors
///
/// Those of [`reader`].
pub fn weight_of_subject() -> Result<f32, String> {
    Ok(subject_map()?[[CAT, SUBJECT_AT]])
}

/// The probability of “dogs” after the second “old”.
///
/// # Errors
///
/// Those of [`reader`].
pub fn next_again() -> Result<f32, String> {
    let next = read(&AGAIN, &[])?.next;
    let dogs = WORDS.iter().position(|word| *word == "dogs");
    Ok(next[[AGAIN.len() - 1, dogs.unwrap_or_default()]])
}

/// The probability of all verbs for one, and of all for many, after “cat”.
fn verbs_after(off: &[(usize, usize)]) -> Result<Array1<f32>, String> {
    let next = read(&BIRDS, off)?.next;
    let of = |number| verbs(number).map(|verb| next[[CAT, verb]]).sum::<f32>();
    Ok(ndarray::array![of(Number::Singular), of(Number::Plural)])
}

/// The probabilities of verbs of each number, with all heads and without one.
///
/// # Errors
///
/// Those of [`reader`].
pub fn next_verb() -> Result<Array2<f32>, String> {
    let (all, without) = (verbs_after(&[])?, verbs_after(&[best(SUBJECT)?])?);
    Ok(ndarray::stack![ndarray::Axis(0), all, without])
}

/// [`flips`], of what the model expects.
///
/// # Errors
///
/// The probabilities.
pub fn verb_flips() -> Claim {
    flips(&next_verb()?)
}

/// Verbs for many are likelier in the first row, verbs for one in the second.
///
/// # Errors
///
/// The rows, if it is not so.
pub fn flips(next: &Array2<f32>) -> Claim {
    let right = next[[0, 1]] > next[[0, 0]] && next[[1, 0]] > next[[1, 1]];
    if right { Ok(()) } else { Err(format!("the probabilities are {next}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learning::grammar::held_out;

    /// “bird” is the third noun and “cat” the first.
    #[test]
    fn the_pair_of_nouns_is_held_out() {
        assert!(held_out(2, 0));
        assert_eq!((BIRDS[SUBJECT_AT], BIRDS[CAT]), ("birds", "cat"));
    }

    #[test]
    fn what_does_not_flip_is_told() {
        assert!(flips(&ndarray::array![[0.1, 0.9], [0.2, 0.8]]).is_err());
    }
}
