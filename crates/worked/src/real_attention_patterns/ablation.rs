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

/// An ability of the model.
pub type Ability = fn(&Abilities) -> f64;
const COPYING: Ability = |of| of.copying;
const AGREEMENT: Ability = |of| of.agreement;

/// One ability falls by a bound at least, the other by 0.05 at most.
///
/// # Errors
///
/// By how much they fall, if it is not so.
pub fn falls_alone(
    [ability, other]: [Ability; 2],
    by: f64,
    (with, without): (Abilities, Abilities),
) -> Claim {
    let [falls, others] = [ability, other].map(|of| of(&with) - of(&without));
    if falls >= by && others <= 0.05 {
        Ok(())
    } else {
        Err(format!("it falls by {falls}, the other by {others}"))
    }
}

/// [`falls_alone`]: copying, by 0.4, without the previous-token head.
///
/// # Errors
///
/// By how much abilities fall, if it is not so.
pub fn previous_alone_copies() -> Claim {
    falls_alone([COPYING, AGREEMENT], 0.4, with_and_without(PREVIOUS)?)
}

/// [`falls_alone`]: copying, by 0.1, without the induction head.
///
/// # Errors
///
/// By how much abilities fall, if it is not so.
pub fn induction_alone_copies() -> Claim {
    falls_alone([COPYING, AGREEMENT], 0.1, with_and_without(INDUCTION)?)
}

/// [`falls_alone`]: agreement, by 0.25, without the subject head.
///
/// # Errors
///
/// By how much abilities fall, if it is not so.
pub fn subject_alone_agrees() -> Claim {
    falls_alone([AGREEMENT, COPYING], 0.25, with_and_without(SUBJECT)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_that_changes_nothing_is_needed_for_nothing() {
        let all = measured().unwrap().all;
        assert!(falls_alone([COPYING, AGREEMENT], 0.1, (all, all)).is_err());
    }

    #[test]
    fn a_head_that_takes_everything_away_is_not_for_one_thing() {
        let all = measured().unwrap().all;
        let nothing = Abilities { copying: 0.0, agreement: 0.0, ..all };
        assert!(falls_alone([AGREEMENT, COPYING], 0.25, (all, nothing)).is_err());
    }
}
