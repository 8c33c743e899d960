//! Softmax told for one weight: the largest score of its row, each exponential,
//! their sum, and the share that this one has of it.

use super::Account;
use super::line::{Exponential, Line};
use crate::cell::{Name, Place};
use crate::head::Computed;
use crate::written::{Num, Rounding};
use attention::Real as _;
use attention::ndarray::Array1;

/// Digits of exponentials and of their sum.
const DIGITS: u8 = 3;

/// The account of a weight.
pub(super) fn account(head: &Computed, row: usize, column: usize, result: Num) -> Account {
    let mut rounding = Rounding::default();
    let (largest, terms) = exponentials(head, row, column);
    let (mut labels, mut numbers, mut summed) = (Vec::new(), Vec::new(), Vec::new());
    for term in terms.iter().filter(|term| !term.closed) {
        rounding.difference(&term.score, &largest, &term.difference);
        rounding.exponential(&term.difference, &term.exponential);
        labels.push(term.label.clone());
        numbers.push(term.score.clone());
        summed.push(term.exponential.clone());
    }
    let total: Array1<f64> = terms.iter().map(|term| term.exponential.value).collect();
    let total = Num::new(total.sum(), DIGITS);
    rounding.sum(&summed, &total);
    let top = terms[column].exponential.clone();
    rounding.quotient(&top, &total, &result);

    let spoken = spoken(&terms, column, &largest, &total, &result);
    let mut lines = vec![
        Line::Largest { labels: labels.clone(), numbers, result: largest.clone() },
        Line::Sum { name: None, labels, terms: summed, sum: total.clone() },
        Line::Quotient { top, bottom: total, result },
    ];
    if terms[column].closed {
        let sentence = closed(&terms[column].label);
        lines.insert(0, Line::Sentence { sentence, rounding: None });
    }
    let after_largest = lines.len() - 2;
    lines.insert(after_largest, Line::Exponentials { largest, terms });
    Account::new(lines, spoken).rounded(&rounding)
}

/// The largest score of a row, and what softmax makes of each score: see
/// `attention::recipe::softmax`, with which this agrees to the bit.
fn exponentials(head: &Computed, row: usize, column: usize) -> (Num, Vec<Exponential>) {
    let digits = head.close_digits(Name::Masked, Name::Weights);
    let scores = head.numbers(Name::Masked).row(row);
    let largest = scores.fold(f64::NEG_INFINITY, |largest, &score| largest.max(score));
    let terms = scores.iter().zip(&head.state.tokens).enumerate();
    let terms = terms.map(|(key, (&score, label))| {
        let closed = score == f64::NEG_INFINITY;
        let difference = if closed { score } else { score - largest };
        Exponential {
            label: label.clone(),
            score: Num::of(Place(Name::Masked, row, key), score, digits),
            difference: Num::new(difference, digits),
            exponential: Num::new(difference.portable_exp(), DIGITS),
            closed,
            current: key == column,
        }
    });
    (Num::new(largest, digits), terms.collect())
}

fn closed(key: &str) -> String {
    format!("The mask has closed “{key}”: its score is −∞, and the exponential of that is 0.")
}

fn spoken(
    terms: &[Exponential],
    column: usize,
    largest: &Num,
    total: &Num,
    result: &Num,
) -> String {
    let Exponential { label, score, difference, exponential, .. } = &terms[column];
    let mut sentences = Vec::new();
    if terms[column].closed {
        sentences.push(closed(label));
    } else {
        sentences.push(format!("The largest score of the row is {}.", largest.shown));
        sentences.push(format!(
            "The score of “{label}”, {}, minus the largest is {}, and the exponential of that is \
             {}.",
            score.shown, difference.shown, exponential.shown
        ));
    }
    let open = terms.iter().filter(|term| !term.closed);
    let each: Vec<String> =
        open.map(|term| format!("{} for “{}”", term.exponential.shown, term.label)).collect();
    sentences.push(format!(
        "The exponentials of the row are {}; their sum is {}.",
        each.join(", "),
        total.shown
    ));
    sentences
        .push(format!("{} divided by {} is {}.", exponential.shown, total.shown, result.shown));
    sentences.join(" ")
}
