//! What the model can do without the heads that were found.

use learning::patterns::Abilities;
use ledger::Ledger;
use ndarray::Array2;

use super::found::{INDUCTION, PREVIOUS, Pattern, SUBJECT, best};
use super::measured;
use crate::Claim;

/// The columns of a table of abilities.
pub const ABILITIES: [&str; 4] = ["copies", "agrees", "loss on sentences", "loss on repeats"];

/// Enters the values of this file.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("patterns.ablation", table)
        .rows(&["nothing", "the previous-token head", "the induction head", "the subject head"])
        .columns(&ABILITIES)
        .about("what the model can do with one of the found heads switched off");
    ledger.enter("patterns.copies", copies).about("how often it copies, with all heads on");
    ledger.enter("patterns.agrees", agrees).about("how often it agrees, with all heads on");
    ledger
        .enter("patterns.ablation.previous", previous_alone_copies)
        .about("without the previous-token head it copies far less, and agrees as before");
    ledger
        .enter("patterns.ablation.induction", induction_alone_copies)
        .about("without the induction head it copies less, and agrees as before");
    ledger
        .enter("patterns.ablation.subject", subject_alone_agrees)
        .about("without the subject head it agrees far less, and copies as before");
}

/// What the model can do, as a row.
pub(super) fn row(abilities: &Abilities) -> [f64; 4] {
    let Abilities { copying, agreement, loss_on_sentences, loss_on_repeats } = *abilities;
    [copying, agreement, loss_on_sentences, loss_on_repeats]
}

/// What the model can do with nothing switched off, and without each found head.
///
/// # Errors
///
/// Those of [`measured`].
pub fn table() -> Result<Array2<f64>, String> {
    let measured = measured()?;
    let mut rows = vec![row(&measured.all)];
    for pattern in [PREVIOUS, INDUCTION, SUBJECT] {
        rows.push(row(&measured.without[best(pattern)?]));
    }
    Ok(Array2::from(rows))
}

/// How often the model copies, with all heads on.
///
/// # Errors
///
/// Those of [`measured`].
pub fn copies() -> Result<f64, String> {
    Ok(measured()?.all.copying)
}

/// How often the model agrees, with all heads on.
///
/// # Errors
///
/// Those of [`measured`].
pub fn agrees() -> Result<f64, String> {
    Ok(measured()?.all.agreement)
}

/// What the model can do, with all heads and without the best of a pattern.
fn with_and_without(pattern: Pattern) -> Result<(Abilities, Abilities), String> {
    let measured = measured()?;
    Ok((measured.all, measured.without[best(pattern)?]))
}

/// Copying falls by a bound at least, agreement by 0.05 at most.
///
/// # Errors
///
/// By how much they fall, if it is not so.
pub fn only_copying_falls(by: f64, (with, without): (Abilities, Abilities)) -> Claim {
    let falls = [with.copying - without.copying, with.agreement - without.agreement];
    if falls[0] >= by && falls[1] <= 0.05 { Ok(()) } else { Err(format!("they fall by {falls:?}")) }
}

/// [`only_copying_falls`] by 0.4, without the previous-token head.
///
/// # Errors
///
/// By how much abilities fall, if it is not so.
pub fn previous_alone_copies() -> Claim {
    only_copying_falls(0.4, with_and_without(PREVIOUS)?)
}

/// [`only_copying_falls`] by 0.1, without the induction head.
///
/// # Errors
///
/// By how much abilities fall, if it is not so.
pub fn induction_alone_copies() -> Claim {
    only_copying_falls(0.1, with_and_without(INDUCTION)?)
}

/// Agreement falls by 0.25 at least without the subject head, copying by 0.05 at most.
///
/// # Errors
///
/// By how much abilities fall, if it is not so.
pub fn subject_alone_agrees() -> Claim {
    let (with, without) = with_and_without(SUBJECT)?;
    let falls = [with.agreement - without.agreement, with.copying - without.copying];
    if falls[0] >= 0.25 && falls[1] <= 0.05 {
        Ok(())
    } else {
        Err(format!("they fall by {falls:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_that_changes_nothing_is_no_part_of_copying() {
        let all = measured().unwrap().all;
        assert!(only_copying_falls(0.1, (all, all)).is_err());
    }
}
