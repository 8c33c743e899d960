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
    if Name::BACKWARD.contains(&name) && head.backward().is_none() {
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
        Name::Scaled => score::scaled(head, row, column, result.clone()),
        Name::Masked => score::masked(head, row, column, result.clone()),
        Name::Weights => softmax::account(head, row, column, result.clone()),
        Name::Loss => gradient::loss(head, result.clone()),
        Name::DOutput => gradient::output(head, row, column, result.clone()),
        Name::DMasked => gradient::softmax(head, row, column, result.clone()),
        Name::DScaled => gradient::mask(head, row, column, result.clone()),
        Name::DScores => gradient::scale(head, row, column, result.clone()),
        Name::DX => gradient::x(head, row, column, result.clone()),
        _ => dot::account(head, place, result.clone()),
    };
    let title = title(head, place);
    let spoken = format!("{title}. {}", account.spoken);
    let (lines, sources) = (account.lines, sources(head, place));
    Ok(Derivation { matrix: name, row, column, title, lines, result, sources, spoken })
}

/// The place that holds one factor of each term of a dot product, and the other.
pub(crate) fn factors(name: Name, row: usize, column: usize, term: usize) -> Option<[Place; 2]> {
    let projected = |weights| Some([Place(Name::X, row, term), Place(weights, term, column)]);
    let learned = |d_made| Some([Place(Name::X, term, row), Place(d_made, term, column)]);
    match name {
        Name::Queries => projected(Name::QueryWeights),
        Name::Keys => projected(Name::KeyWeights),
        Name::Values => projected(Name::ValueWeights),
        Name::Scores => Some([Place(Name::Queries, row, term), Place(Name::Keys, column, term)]),
        Name::Output => Some([Place(Name::Weights, row, term), Place(Name::Values, term, column)]),
        // dA = dO·Vᵀ, dV = Aᵀ·dO
        Name::DWeights => {
            Some([Place(Name::DOutput, row, term), Place(Name::Values, column, term)])
        }
        Name::DValues => {
            Some([Place(Name::Weights, term, row), Place(Name::DOutput, term, column)])
        }
        // dQ = dS·K, dK = dSᵀ·Q
        Name::DQueries => Some([Place(Name::DScores, row, term), Place(Name::Keys, term, column)]),
        Name::DKeys => Some([Place(Name::DScores, term, row), Place(Name::Queries, term, column)]),
        Name::DQueryWeights => learned(Name::DQueries),
        Name::DKeyWeights => learned(Name::DKeys),
        Name::DValueWeights => learned(Name::DValues),
        _ => None,
    }
}

/// The three products that add up to dX: each gradient with its weights.
const WAYS: [[Name; 2]; 3] = [
    [Name::DQueries, Name::QueryWeights],
    [Name::DKeys, Name::KeyWeights],
    [Name::DValues, Name::ValueWeights],
];

/// The places of the factors of one of those products, each pair with its label.
fn ways(
    head: &Computed,
    [d_made, weights]: [Name; 2],
    row: usize,
    column: usize,
) -> Vec<(String, [Place; 2])> {
    let labels = head.columns(d_made).iter().enumerate();
    let factors = |term| [Place(d_made, row, term), Place(weights, column, term)];
    labels.map(|(term, label)| (label.clone(), factors(term))).collect()
}

/// Every cell that a cell was computed from.
fn sources(head: &Computed, Place(name, row, column): Place) -> Vec<Place> {
    let across = |name| (0..head.length()).map(move |key| Place(name, row, key));
    let missed = |row: usize, column: usize| {
        [Place(Name::Output, row, column), Place(Name::Target, 0, column)]
    };
    match name {
        Name::Scaled => vec![Place(Name::Scores, row, column)],
        Name::Masked if column < head.open_keys(row) => vec![Place(Name::Scaled, row, column)],
        Name::Weights => across(Name::Masked).collect(),
        Name::Loss => {
            let last = head.length() - 1;
            (0..head.state.messages.len()).flat_map(|column| missed(last, column)).collect()
        }
        Name::DOutput if row + 1 == head.length() => missed(row, column).into(),
        Name::DMasked => across(Name::Weights).chain(across(Name::DWeights)).collect(),
        Name::DScaled if column < head.open_keys(row) => vec![Place(Name::DMasked, row, column)],
        Name::DScores => vec![Place(Name::DScaled, row, column)],
        Name::DX => WAYS
            .into_iter()
            .flat_map(|way| ways(head, way, row, column))
            .flat_map(|(_, places)| places)
            .collect(),
        _ => {
            let terms = 0..dot::labels(head, name).len();
            terms.filter_map(|term| factors(name, row, column, term)).flatten().collect()
        }
    }
}

fn title(head: &Computed, Place(name, row, column): Place) -> String {
    let (of, to) = (&head.rows(name)[row], &head.columns(name)[column]);
    if let Some(subject) = name.subject() {
        let title = title(head, Place(subject, row, column));
        return match title.split_at_checked(1) {
            Some((first, rest)) if !subject.is_input() => {
                format!("Gradient of the {}{rest}", first.to_lowercase())
            }
            _ => format!("Gradient of {title}"),
        };
    }
    match name {
        Name::Queries => format!("Query of “{of}”: {to}"),
        Name::Keys => format!("Key of “{of}”: {to}"),
        Name::Values => format!("Value of “{of}”: {to}"),
        Name::Scores => format!("Score of “{of}” with “{to}”"),
        Name::Scaled => format!("Scaled score of “{of}” with “{to}”"),
        Name::Masked => format!("Masked score of “{of}” with “{to}”"),
        Name::Weights => format!("Weight that “{of}” gives to “{to}”"),
        Name::Output => format!("Output of “{of}”: {to}"),
        Name::Loss => "The loss".to_owned(),
        _ => format!("{} of “{of}”: {to}", name.text()),
    }
}
