//! How a single cell was computed: every number that went into it, in the order
//! of the computation, and the same in words. A derivation takes the result
//! from the trace and never computes another.

mod dot;
mod gradient;
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
    if name.is_backward() && !head.has_target() {
        return Err("The head has no target, so there is nothing to follow backwards.".to_owned());
    }
    let Some(&value) = numbers.get((row, column)) else {
        return Err(format!("{} has no cell ({row}, {column}).", name.text()));
    };
    let result = Num::new(value, head.digits(name));
    let account = match name {
        Name::X | Name::QueryWeights | Name::KeyWeights | Name::ValueWeights | Name::Target => {
            return Err(format!("{} is not computed.", name.text()));
        }
        Name::Scaled | Name::DScores => score::scaled(head, place, result.clone()),
        Name::Masked | Name::DScaled => score::masked(head, place, result.clone()),
        Name::Weights => softmax::account(head, row, column, result.clone()),
        Name::Loss => gradient::loss(head, place, result.clone()),
        Name::DOutput => gradient::output(head, place, result.clone()),
        Name::DMasked => gradient::softmax(head, place, result.clone()),
        Name::DX => gradient::x(head, place, result.clone()),
        _ => dot::account(head, place, result.clone()),
    };
    let title = title(head, place);
    let spoken = format!("{title}. {}", account.spoken);
    let (lines, sources) = (account.lines, sources(head, place));
    Ok(Derivation { matrix: name, row, column, title, lines, result, sources, spoken })
}

/// A term of a sum: what it is about, and the places of its two numbers.
type Term = (String, [Place; 2]);

/// What each term of a cell's sum is about. Most cells are such a sum of products;
/// the loss is one of squared differences, and an error is a single difference.
fn labels(head: &Computed, Place(name, row, column): Place) -> &[String] {
    match name {
        Name::Queries | Name::Keys | Name::Values => head.columns(Name::X),
        Name::Scores => head.columns(Name::Queries),
        Name::DWeights | Name::Loss => head.columns(Name::Values),
        Name::DOutput if row + 1 < head.length() => &[],
        Name::DOutput => &head.columns(Name::Values)[column..=column],
        _ => head.rows(Name::X),
    }
}

/// The terms of a cell that is a sum.
fn terms(head: &Computed, place: Place) -> Vec<Term> {
    let labels = labels(head, place).iter().enumerate();
    labels.map(|(term, label)| (label.clone(), factors(head, place, term))).collect()
}

/// The places of the two numbers of a term.
fn factors(head: &Computed, Place(name, row, column): Place, term: usize) -> [Place; 2] {
    let projected = |weights| [Place(Name::X, row, term), Place(weights, term, column)];
    let learned = |d_made| [Place(Name::X, term, row), Place(d_made, term, column)];
    let missed = |row, column| [Place(Name::Output, row, column), Place(Name::Target, 0, column)];
    match name {
        Name::Queries => projected(Name::QueryWeights),
        Name::Keys => projected(Name::KeyWeights),
        Name::Values => projected(Name::ValueWeights),
        Name::Scores => [Place(Name::Queries, row, term), Place(Name::Keys, column, term)],
        Name::Loss => missed(head.length() - 1, term),
        Name::DOutput => missed(row, column),
        // dA = dO·Vᵀ, dV = Aᵀ·dO
        Name::DWeights => [Place(Name::DOutput, row, term), Place(Name::Values, column, term)],
        Name::DValues => [Place(Name::Weights, term, row), Place(Name::DOutput, term, column)],
        // The average of a row of dA.
        Name::DMasked => [Place(Name::Weights, row, term), Place(Name::DWeights, row, term)],
        // dQ = dS·K, dK = dSᵀ·Q
        Name::DQueries => [Place(Name::DScores, row, term), Place(Name::Keys, term, column)],
        Name::DKeys => [Place(Name::DScores, term, row), Place(Name::Queries, term, column)],
        Name::DQueryWeights => learned(Name::DQueries),
        Name::DKeyWeights => learned(Name::DKeys),
        Name::DValueWeights => learned(Name::DValues),
        _ => [Place(Name::Weights, row, term), Place(Name::Values, term, column)],
    }
}

/// The three products that add up to dX: each gradient with its weights.
const WAYS: [(&str, &str, [Name; 2]); 3] = [
    ("query", "through the query", [Name::DQueries, Name::QueryWeights]),
    ("key", "through the key", [Name::DKeys, Name::KeyWeights]),
    ("value", "through the value", [Name::DValues, Name::ValueWeights]),
];

/// The terms of one of those products.
fn way(head: &Computed, [d_made, weights]: [Name; 2], Place(_, row, column): Place) -> Vec<Term> {
    let labels = head.columns(d_made).iter().enumerate();
    let factors = |term| [Place(d_made, row, term), Place(weights, column, term)];
    labels.map(|(term, label)| (label.clone(), factors(term))).collect()
}

/// Every cell that a cell was computed from.
fn sources(head: &Computed, place: Place) -> Vec<Place> {
    let Place(name, row, column) = place;
    let open = column < head.open_keys(row);
    match name {
        Name::Scaled => vec![Place(Name::Scores, row, column)],
        Name::Masked if open => vec![Place(Name::Scaled, row, column)],
        Name::DScaled if open => vec![Place(Name::DMasked, row, column)],
        Name::Masked | Name::DScaled => Vec::new(),
        Name::DScores => vec![Place(Name::DScaled, row, column)],
        Name::Weights => (0..head.length()).map(|key| Place(Name::Masked, row, key)).collect(),
        _ => {
            let mut sources = Vec::new();
            let mut take = |terms: Vec<Term>| {
                for (_, places) in terms {
                    sources.extend(places);
                }
            };
            if name == Name::DX {
                WAYS.into_iter().for_each(|(.., matrices)| take(way(head, matrices, place)));
            } else {
                take(terms(head, place));
            }
            sources
        }
    }
}

fn title(head: &Computed, Place(name, row, column): Place) -> String {
    if name == Name::Loss {
        return "The loss".to_owned();
    }
    let (of, to) = (&head.rows(name)[row], &head.columns(name)[column]);
    let subject = name.subject().unwrap_or(name);
    let (what, between, end) = match subject {
        Name::Queries => ("query of", "”: ", ""),
        Name::Keys => ("key of", "”: ", ""),
        Name::Values => ("value of", "”: ", ""),
        Name::Scores => ("score of", "” with “", "”"),
        Name::Scaled => ("scaled score of", "” with “", "”"),
        Name::Masked => ("masked score of", "” with “", "”"),
        Name::Weights => ("weight that", "” gives to “", "”"),
        Name::Output => ("output of", "”: ", ""),
        input => (input.text(), " of “", "”: "),
    };
    let rest = if subject.is_input() {
        [what, between, of, end, to].concat()
    } else {
        [what, " “", of, between, to, end].concat()
    };
    if name == subject {
        return capitalized(&rest);
    }
    let the = if subject.is_input() { "Gradient of " } else { "Gradient of the " };
    [the, &rest].concat()
}

fn capitalized(text: &str) -> String {
    let (first, rest) = text.split_at_checked(1).unwrap_or(("", text));
    [&first.to_ascii_uppercase(), rest].concat()
}
