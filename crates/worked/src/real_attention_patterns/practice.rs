//! What goes wrong when heads are looked at: maps that explain little, heads with
//! several tasks, distances never seen in training.

use learning::Random;
use learning::grammar::Text;
use learning::patterns::{Sample, Scores, abilities, found};
use learning::training::SIZES;
use learning::vocabulary::{STOP, WORDS};
use ledger::Ledger;
use ndarray::Array2;

use super::ablation::{ABILITIES, row};
use super::found::{INDUCTION, NAMES, best, named};
use super::{measured, reader};
use crate::Claim;

/// How many words are said before they are said again, where the model has never
/// seen so many.
pub const FAR: usize = 20;

/// Enters the values of this file.
pub fn enter(ledger: &mut Ledger) {
    let names: Vec<String> = NAMES.iter().map(|name| format!("without {name}")).collect();
    ledger
        .enter("patterns.each", each_head)
        .rows(&names)
        .columns(&ABILITIES)
        .about("what the model can do without each of its heads");
    ledger
        .enter("patterns.faint.head", faint_head)
        .about("the head without which the loss on sentences rises most");
    ledger
        .enter("patterns.faint.matters", faint_head_matters)
        .about("it has no score above 0.2, and without it the model does not agree");
    ledger.enter("patterns.spare.head", spare_head).about("the second-best induction head");
    ledger
        .enter("patterns.spare.is.not.missed", spare_head_is_not_missed)
        .about("its induction score is above 0.9, and without it the model copies as before");
    ledger.enter("patterns.far", far).about("a number of words never seen in training to repeat");
    ledger
        .enter("patterns.far.copies", far_copies)
        .about("how often it copies where so many words repeat");
}

/// What the model can do without each of its heads.
///
/// # Errors
///
/// Those of [`measured`].
pub fn each_head() -> Result<Array2<f64>, String> {
    let rows: Vec<[f64; 4]> = measured()?.without.iter().map(row).collect();
    Ok(Array2::from(rows))
}

/// The head without which the loss on sentences is highest.
fn faint() -> Result<(usize, usize), String> {
    let without = &measured()?.without;
    let heads = without.indexed_iter();
    let worst = heads.max_by(|(_, a), (_, b)| a.loss_on_sentences.total_cmp(&b.loss_on_sentences));
    worst.map(|(head, _)| head).ok_or_else(|| "there is no head".to_owned())
}

/// Its name.
///
/// # Errors
///
/// Those of [`measured`].
pub fn faint_head() -> Result<String, String> {
    faint().map(named)
}

/// [`faint_and_needed`], of that head.
///
/// # Errors
///
/// Its scores, or how often the model agrees, if it is not so.
pub fn faint_head_matters() -> Claim {
    faint_and_needed(faint()?)
}

/// A head has no score above 0.2, and without it the model agrees in less than 0.6
/// of the places.
///
/// # Errors
///
/// Its scores, or how often the model agrees, if it is not so.
pub fn faint_and_needed(head: (usize, usize)) -> Claim {
    let measured = measured()?;
    let Scores { previous, induction, subject, distractors } = measured.scores[head];
    let scores = [previous, induction, subject, distractors];
    if scores.iter().any(|&score| score > 0.2) {
        return Err(format!("its scores are {scores:?}"));
    }
    let agreement = measured.without[head].agreement;
    if agreement < 0.6 { Ok(()) } else { Err(format!("it agrees in {agreement}")) }
}

/// The second-best head for induction.
fn spare() -> Result<(usize, usize), String> {
    let mut scores = measured()?.scores.clone();
    scores[best(INDUCTION)?].induction = 0.0;
    Ok(found(&scores, INDUCTION))
}

/// Its name.
///
/// # Errors
///
/// Those of [`measured`].
pub fn spare_head() -> Result<String, String> {
    spare().map(named)
}

/// [`clear_and_not_missed`], of that head.
///
/// # Errors
///
/// Its score, or by how much copying falls, if it is not so.
pub fn spare_head_is_not_missed() -> Claim {
    clear_and_not_missed(spare()?)
}

/// A head's induction score is above 0.9, and without it the model copies as
/// before, to a hundredth.
///
/// # Errors
///
/// Its score, or by how much copying falls, if it is not so.
pub fn clear_and_not_missed(head: (usize, usize)) -> Claim {
    let measured = measured()?;
    let score = measured.scores[head].induction;
    if score <= 0.9 {
        return Err(format!("its score is {score}"));
    }
    let falls = measured.all.copying - measured.without[head].copying;
    if falls < 0.01 { Ok(()) } else { Err(format!("copying falls by {falls}")) }
}

/// [`FAR`]
#[must_use]
pub fn far() -> usize {
    FAR
}

/// How often the model copies where [`FAR`] words repeat.
///
/// # Errors
///
/// Those of [`reader`].
pub fn far_copies() -> Result<f64, String> {
    let mut random = Random::seeded(5);
    let repeats = (0..32).map(|_| Text { words: repeat(&mut random), agreements: Vec::new() });
    let sample = Sample { sentences: Vec::new(), held_out: Vec::new(), repeats: repeats.collect() };
    let abilities =
        abilities(reader()?.model(), &sample, &[]).map_err(|error| error.to_string())?;
    Ok(abilities.copying)
}

/// [`FAR`] words by chance, again and again.
fn repeat(random: &mut Random) -> Vec<usize> {
    let block: Vec<usize> = (0..FAR).map(|_| 1 + random.below(WORDS.len() - 1)).collect();
    let again = block.iter().cycle().copied();
    std::iter::once(STOP).chain(again).take(SIZES.context + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real_attention_patterns::found::PREVIOUS;

    #[test]
    fn heads_of_another_kind_are_told_apart() {
        assert!(faint_and_needed(best(PREVIOUS).unwrap()).unwrap_err().contains("scores"));
        assert!(clear_and_not_missed(best(INDUCTION).unwrap()).unwrap_err().contains("falls"));
        assert!(clear_and_not_missed(faint().unwrap()).unwrap_err().contains("score"));
    }
}
