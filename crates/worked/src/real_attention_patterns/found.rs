//! Which head does what: the scores of all heads, and the best of each pattern.

use learning::patterns::{Scores, found};
use ledger::Ledger;
use ndarray::Array2;

use super::measured;
use crate::Claim;

/// A pattern: what a head is looked for by.
pub type Pattern = fn(&Scores) -> f64;
/// The share of attention that goes to the word before.
pub const PREVIOUS: Pattern = |head| head.previous;
/// The share that goes to what followed the same word earlier.
pub const INDUCTION: Pattern = |head| head.induction;
/// The share that goes from the word that predicts the verb to the subject.
pub const SUBJECT: Pattern = |head| head.subject;

/// The names of the heads, layer and head, as the chapter counts them.
pub const NAMES: [&str; 8] = ["1.1", "1.2", "1.3", "1.4", "2.1", "2.2", "2.3", "2.4"];

/// Enters the values of this file.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("patterns.scores", table)
        .rows(&NAMES)
        .columns(&["previous", "induction", "subject", "other nouns"])
        .about("the scores of every head, on texts that no training has seen");
    ledger.enter("patterns.previous.head", previous_head).about("the previous-token head");
    ledger.enter("patterns.induction.head", induction_head).about("the induction head");
    ledger.enter("patterns.subject.head", subject_head).about("the subject head");
    ledger.enter("patterns.previous.score", previous_score).about("its previous-token score");
    ledger.enter("patterns.induction.score", induction_score).about("its induction score");
    ledger.enter("patterns.subject.score", subject_score).about("its attention to the subject");
    ledger
        .enter("patterns.subject.others", subject_others)
        .about("its attention to the nouns between subject and verb");
    ledger
        .enter("patterns.subject.induction", subject_induction)
        .about("the induction score of the subject head");
    ledger
        .enter("patterns.found", each_pattern_is_found)
        .about("for each pattern a head has a score above 0.8");
    ledger
        .enter("patterns.layers.differ", heads_are_in_their_layers)
        .about("the previous-token head is in the first layer, the other two in the second");
}

/// The layer and head with the highest score of a pattern.
///
/// # Errors
///
/// Those of [`measured`].
pub fn best(pattern: Pattern) -> Result<(usize, usize), String> {
    Ok(found(&measured()?.scores, pattern))
}

/// Its score.
fn score_of_best(pattern: Pattern) -> Result<f64, String> {
    Ok(pattern(&measured()?.scores[best(pattern)?]))
}

/// A head as the chapter counts it: from 1.
pub(super) fn named((layer, head): (usize, usize)) -> String {
    format!("{}.{}", layer + 1, head + 1)
}

/// The scores of every head.
///
/// # Errors
///
/// Those of [`measured`].
pub fn table() -> Result<Array2<f64>, String> {
    let scores = &measured()?.scores;
    let columns = [PREVIOUS, INDUCTION, SUBJECT, |head| head.distractors];
    let rows: Vec<&Scores> = scores.iter().collect();
    Ok(Array2::from_shape_fn((rows.len(), columns.len()), |(row, column)| {
        columns[column](rows[row])
    }))
}

/// The previous-token head.
///
/// # Errors
///
/// Those of [`measured`].
pub fn previous_head() -> Result<String, String> {
    best(PREVIOUS).map(named)
}

/// The induction head.
///
/// # Errors
///
/// Those of [`measured`].
pub fn induction_head() -> Result<String, String> {
    best(INDUCTION).map(named)
}

/// The subject head.
///
/// # Errors
///
/// Those of [`measured`].
pub fn subject_head() -> Result<String, String> {
    best(SUBJECT).map(named)
}

/// The score of the previous-token head.
///
/// # Errors
///
/// Those of [`measured`].
pub fn previous_score() -> Result<f64, String> {
    score_of_best(PREVIOUS)
}

/// The score of the induction head.
///
/// # Errors
///
/// Those of [`measured`].
pub fn induction_score() -> Result<f64, String> {
    score_of_best(INDUCTION)
}

/// The attention of the subject head to the subject.
///
/// # Errors
///
/// Those of [`measured`].
pub fn subject_score() -> Result<f64, String> {
    score_of_best(SUBJECT)
}

/// The attention of the subject head to the nouns in between.
///
/// # Errors
///
/// Those of [`measured`].
pub fn subject_others() -> Result<f64, String> {
    Ok(measured()?.scores[best(SUBJECT)?].distractors)
}

/// The induction score of the subject head, which was found by another score.
///
/// # Errors
///
/// Those of [`measured`].
pub fn subject_induction() -> Result<f64, String> {
    Ok(measured()?.scores[best(SUBJECT)?].induction)
}

/// [`found_above`] 0.8, for each of the three patterns.
///
/// # Errors
///
/// The pattern that has no such head, with the highest score.
pub fn each_pattern_is_found() -> Claim {
    found_above(0.8, &measured()?.scores)
}

/// For each pattern, some head has a score above a bound.
///
/// # Errors
///
/// The pattern that has none, with its highest score.
pub fn found_above(bound: f64, scores: &Array2<Scores>) -> Claim {
    for (name, pattern) in
        [("previous token", PREVIOUS), ("induction", INDUCTION), ("subject", SUBJECT)]
    {
        let highest = pattern(&scores[found(scores, pattern)]);
        if highest <= bound {
            return Err(format!("the highest score for {name} is {highest}"));
        }
    }
    Ok(())
}

/// [`one_after_the_other`], of the layers of the three heads.
///
/// # Errors
///
/// Where they are.
pub fn heads_are_in_their_layers() -> Claim {
    one_after_the_other([best(PREVIOUS)?.0, best(INDUCTION)?.0, best(SUBJECT)?.0])
}

/// The first is in the first layer, where words and positions are all there is to
/// see; the others are in the second.
///
/// # Errors
///
/// Where they are.
pub fn one_after_the_other(layers: [usize; 3]) -> Claim {
    if layers == [0, 1, 1] { Ok(()) } else { Err(format!("they are in {layers:?}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_that_no_head_reaches_is_told() {
        let scores = &measured().unwrap().scores;
        assert!(found_above(1.0, scores).unwrap_err().contains("previous token"));
    }

    #[test]
    fn heads_in_one_layer_are_no_two_halves() {
        assert!(one_after_the_other([0, 0, 1]).is_err());
    }
}
