//! How a single cell was computed: every number that went into it, in the order
//! of the computation, and the same in words. A derivation takes the result
//! from the trace and never computes another.

mod dot;
mod line;
mod score;
mod softmax;

pub(crate) use dot::products;
pub(crate) use line::Line;

use crate::cell::{Name, Place};
use crate::head::Computed;
use crate::json::{Unreadable, object};
use crate::written::{Num, Rounding};

/// A computation, line by line and in words.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) lines: Vec<Line>,
    /// Full sentences.
    pub(crate) spoken: String,
}

impl Account {
    fn new(lines: Vec<Line>, spoken: String) -> Account {
        Account { lines, spoken }
    }

    /// Adds what there is to say of rounding.
    fn rounded(mut self, rounding: &Rounding) -> Account {
        if let Some(sentence) = rounding.sentence() {
            self.spoken = format!("{} {sentence}", self.spoken);
            self.lines.push(Line::Sentence { sentence, rounding: Some(true) });
        }
        self
    }
}

/// How a cell was computed.
#[derive(Debug)]
pub(crate) struct Derivation {
    matrix: Name,
    row: usize,
    column: usize,
    title: String,
    lines: Vec<Line>,
    result: Num,
    sources: Vec<Place>,
    /// Title and computation in full sentences.
    spoken: String,
}

object!(Derivation { matrix, row, column, title, lines, result, sources, spoken });

/// Derives a cell of a computed matrix.
pub(crate) fn cell(head: &Computed, place: Place) -> Result<Derivation, Unreadable> {
    let Place(name, row, column) = place;
    let numbers = head.numbers(name);
    let Some(&value) = numbers.get((row, column)) else {
        return Err(format!("{} has no cell ({row}, {column}).", name.text()));
    };
    let result = Num::new(value, head.digits(name));
    let account = match name {
        Name::X | Name::QueryWeights | Name::KeyWeights | Name::ValueWeights => {
            return Err(format!("{} is not computed.", name.text()));
        }
        Name::Queries | Name::Keys | Name::Values | Name::Scores | Name::Output => {
            dot::account(head, place, result.clone())
        }
        Name::Scaled => score::scaled(head, row, column, result.clone()),
        Name::Masked => score::masked(head, row, column, result.clone()),
        Name::Weights => softmax::account(head, row, column, result.clone()),
    };
    let title = title(head, place);
    let spoken = format!("{title}. {}", account.spoken);
    let (lines, sources) = (account.lines, sources(head, place));
    Ok(Derivation { matrix: name, row, column, title, lines, result, sources, spoken })
}

/// The place that holds one factor of each term of a dot product, and the other.
pub(crate) fn factors(name: Name, row: usize, column: usize, term: usize) -> Option<[Place; 2]> {
    let projected = |weights| Some([Place(Name::X, row, term), Place(weights, term, column)]);
    match name {
        Name::Queries => projected(Name::QueryWeights),
        Name::Keys => projected(Name::KeyWeights),
        Name::Values => projected(Name::ValueWeights),
        Name::Scores => Some([Place(Name::Queries, row, term), Place(Name::Keys, column, term)]),
        Name::Output => Some([Place(Name::Weights, row, term), Place(Name::Values, term, column)]),
        _ => None,
    }
}

/// Every cell that a cell was computed from.
fn sources(head: &Computed, Place(name, row, column): Place) -> Vec<Place> {
    match name {
        Name::Scaled => vec![Place(Name::Scores, row, column)],
        Name::Masked if column < head.open_keys(row) => vec![Place(Name::Scaled, row, column)],
        Name::Weights => (0..head.length()).map(|key| Place(Name::Masked, row, key)).collect(),
        _ => {
            let terms = 0..dot::terms(head, name);
            terms.filter_map(|term| factors(name, row, column, term)).flatten().collect()
        }
    }
}

fn title(head: &Computed, Place(name, row, column): Place) -> String {
    let (of, to) = (&head.rows(name)[row], &head.columns(name)[column]);
    match name {
        Name::Queries => format!("Query of “{of}”: {to}"),
        Name::Keys => format!("Key of “{of}”: {to}"),
        Name::Values => format!("Value of “{of}”: {to}"),
        Name::Scores => format!("Score of “{of}” with “{to}”"),
        Name::Scaled => format!("Scaled score of “{of}” with “{to}”"),
        Name::Masked => format!("Masked score of “{of}” with “{to}”"),
        Name::Weights => format!("Weight that “{of}” gives to “{to}”"),
        Name::Output => format!("Output of “{of}”: {to}"),
        Name::X | Name::QueryWeights | Name::KeyWeights | Name::ValueWeights => {
            format!("{} of “{of}”: {to}", name.text())
        }
    }
}
