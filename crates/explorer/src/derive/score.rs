//! What becomes of a score before softmax: it is scaled, and masked.

use super::Account;
use super::line::Line;
use crate::cell::{Name, Place};
use crate::head::Computed;
use crate::written::{Num, Rounding};

/// Digits of 1/√d and of √d.
const DIGITS: u8 = 3;

/// The account of a scaled score.
pub(super) fn scaled(head: &Computed, row: usize, column: usize, result: Num) -> Account {
    let place = Place(Name::Scores, row, column);
    let score = head.numbers(Name::Scores)[[row, column]];
    if !head.state.scale {
        let score = Num::of(place, score, head.digits(Name::Scores));
        let sentence = "Dividing by √d is switched off, so the score stays as it is.".to_owned();
        let spoken = format!("{sentence} It is {}.", result.shown);
        return Account::new(vec![Line::Same { score, result, sentence }], spoken);
    }
    let score = Num::of(place, score, head.close_digits(Name::Scores, Name::Scaled));
    let factor = Num::new(head.factor(), DIGITS);
    let root = Num::new(1.0 / head.factor(), DIGITS);
    let size = head.state.matches.len();
    let mut rounding = Rounding::default();
    rounding.product(&score, &factor, &result);
    let spoken = format!(
        "{} times {}, which is 1 divided by the square root of {size}, is {}.",
        score.shown, factor.shown, result.shown
    );
    let line = Line::Scaled { score, factor, root, size, result };
    Account::new(vec![line], spoken).rounded(&rounding)
}

/// The account of a masked score.
pub(super) fn masked(head: &Computed, row: usize, column: usize, result: Num) -> Account {
    let score = Num::of(
        Place(Name::Scaled, row, column),
        head.numbers(Name::Scaled)[[row, column]],
        head.digits(Name::Scaled),
    );
    if !head.state.mask {
        let sentence = "The mask is switched off: every token may look at every other, so the \
                        score stays as it is."
            .to_owned();
        let spoken = format!("{sentence} It is {}.", result.shown);
        return Account::new(vec![Line::Same { score, result, sentence }], spoken);
    }
    let open = column < head.open_keys(row);
    let sentence = why(head, row, column);
    let spoken = if open {
        format!("{sentence} It is {}.", result.shown)
    } else {
        format!("{sentence} It was {}.", score.shown)
    };
    Account::new(vec![Line::Mask { open, score, result, sentence }], spoken)
}

/// Why a score is open or closed while the mask is on.
fn why(head: &Computed, row: usize, column: usize) -> String {
    let tokens = &head.state.tokens;
    let (query, key) = (&tokens[row], &tokens[column]);
    if column >= head.open_keys(row) {
        format!(
            "“{key}” comes later than “{query}”, and a token may look only at itself and at what \
             comes before it, so the score becomes −∞."
        )
    } else if row == column {
        "A token may look at itself, so the score stays as it is.".to_owned()
    } else {
        format!("“{key}” comes before “{query}”, so the score stays as it is.")
    }
}
