//! What becomes of a score before softmax: it is scaled, and masked. And of its
//! gradient, which goes the same way back.

use super::Account;
use super::line::Line;
use crate::cell::{Name, Place};
use crate::head::Computed;
use crate::written::{Num, Rounding};

/// The account of a scaled score, or of what a scaled gradient becomes.
pub(super) fn scaled(head: &Computed, place: Place, result: Num) -> Account {
    let Place(name, row, column) = place;
    let (from, what) = match name {
        Name::Scaled => (Name::Scores, "score"),
        _ => (Name::DScaled, "gradient"),
    };
    let from = Place(from, row, column);
    if !head.state.scale {
        let sentence = format!("Dividing by √d is switched off, so the {what} stays as it is.");
        return same(head, from, result, sentence);
    }
    let digits = head.closeness(name);
    let score = head.number(from, name);
    let factor = Num::new(head.factor(), digits);
    let root = Num::new(1.0 / head.factor(), digits);
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

/// The account of a masked score, or of what comes back through the mask.
pub(super) fn masked(head: &Computed, place: Place, result: Num) -> Account {
    let Place(name, row, column) = place;
    let forward = name == Name::Masked;
    let from = Place(if forward { Name::Scaled } else { Name::DMasked }, row, column);
    if !head.state.mask {
        let sentence = if forward {
            "The mask is switched off: every token may look at every other, so the score stays as \
             it is."
        } else {
            "The mask is switched off: the score went through as it was, and so does its gradient."
        };
        return same(head, from, result, sentence.to_owned());
    }
    let score = unchanged(head, from);
    let open = column < head.open_keys(row);
    let sentence = if forward { why(head, row, column) } else { why_back(head, row, column) };
    let spoken = if open || !forward {
        format!("{sentence} It is {}.", result.shown)
    } else {
        format!("{sentence} It was {}.", score.shown)
    };
    Account::new(vec![Line::Mask { open, score, result, sentence }], spoken)
}

/// A number with as many digits as its matrix shows, to be carried over as it is.
fn unchanged(head: &Computed, place: Place) -> Num {
    let Place(name, row, column) = place;
    Num::of(place, head.numbers(name)[[row, column]], head.digits(name))
}

/// The account of a number that stays, as a switch is off.
fn same(head: &Computed, from: Place, result: Num, sentence: String) -> Account {
    let spoken = format!("{sentence} It is {}.", result.shown);
    Account::new(vec![Line::Same { score: unchanged(head, from), result, sentence }], spoken)
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

/// Why a gradient comes back through the mask or doesn't.
fn why_back(head: &Computed, row: usize, column: usize) -> String {
    let tokens = &head.state.tokens;
    let (word, end) = if column < head.open_keys(row) {
        ("open", "went through as it was, and so does its gradient.")
    } else {
        ("closed", "was replaced by −∞ and had no say, so its gradient is 0.")
    };
    format!("“{}” is {word} to “{}”: the score {end}", tokens[column], tokens[row])
}
