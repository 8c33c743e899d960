//! The lines of a derivation: what is computed from what, number by number. How
//! a line looks is the page's business.

use crate::json::{list, object, with};
use crate::written::Num;
use serde_json::Value;

/// A step of a computation, or a sentence about it.
#[derive(Debug)]
pub(crate) enum Line {
    /// A dot product.
    Products { terms: Vec<Product>, sum: Num },
    /// A score times `1/√size`.
    Scaled { score: Num, factor: Num, root: Num, size: usize, result: Num },
    /// A score that stays, as a switch is off.
    Same { score: Num, result: Num, sentence: String },
    /// A score that is open and stays, or is closed.
    Mask { open: bool, score: Num, result: Num, sentence: String },
    /// The largest of some scores.
    Largest { labels: Vec<String>, numbers: Vec<Num>, result: Num },
    /// The exponential of each score less the largest.
    Exponentials { largest: Num, terms: Vec<Exponential> },
    /// A plain sum.
    Sum { labels: Vec<String>, terms: Vec<Num>, sum: Num },
    /// A division.
    Quotient { top: Num, bottom: Num, result: Num },
    /// Words.
    Sentence(String),
    /// Words on how the numbers shown are rounded.
    Rounding(String),
}

/// One term of a dot product.
#[derive(Debug)]
pub(crate) struct Product {
    pub(crate) label: String,
    pub(crate) left: Num,
    pub(crate) right: Num,
    pub(crate) product: Num,
}

/// One score on its way through softmax.
#[derive(Debug)]
pub(crate) struct Exponential {
    pub(crate) label: String,
    pub(crate) score: Num,
    pub(crate) difference: Num,
    pub(crate) exponential: Num,
    pub(crate) closed: bool,
    pub(crate) current: bool,
}

impl Line {
    pub(crate) fn json(&self) -> Value {
        let (kind, line) = match self {
            Line::Products { terms, sum } => (
                "products",
                object([("terms", list(terms, Product::json)), ("sum", sum.json())]),
            ),
            Line::Scaled { score, factor, root, size, result } => (
                "scaled",
                object([
                    ("score", score.json()),
                    ("factor", factor.json()),
                    ("root", root.json()),
                    ("size", (*size).into()),
                    ("result", result.json()),
                ]),
            ),
            Line::Same { score, result, sentence } => (
                "same",
                object([
                    ("score", score.json()),
                    ("result", result.json()),
                    ("sentence", sentence.as_str().into()),
                ]),
            ),
            Line::Mask { open, score, result, sentence } => (
                "mask",
                object([
                    ("open", (*open).into()),
                    ("score", score.json()),
                    ("result", result.json()),
                    ("sentence", sentence.as_str().into()),
                ]),
            ),
            Line::Largest { labels, numbers, result } => (
                "largest",
                object([
                    ("labels", texts(labels)),
                    ("numbers", list(numbers, Num::json)),
                    ("result", result.json()),
                ]),
            ),
            Line::Exponentials { largest, terms } => (
                "exponentials",
                object([("largest", largest.json()), ("terms", list(terms, Exponential::json))]),
            ),
            Line::Sum { labels, terms, sum } => (
                "sum",
                object([
                    ("labels", texts(labels)),
                    ("terms", list(terms, Num::json)),
                    ("sum", sum.json()),
                ]),
            ),
            Line::Quotient { top, bottom, result } => (
                "quotient",
                object([
                    ("top", top.json()),
                    ("bottom", bottom.json()),
                    ("result", result.json()),
                ]),
            ),
            Line::Sentence(sentence) => {
                ("sentence", object([("sentence", sentence.as_str().into())]))
            }
            Line::Rounding(sentence) => (
                "sentence",
                object([("sentence", sentence.as_str().into()), ("rounding", true.into())]),
            ),
        };
        with(line, "kind", kind)
    }
}

impl Product {
    fn json(&self) -> Value {
        object([
            ("label", self.label.as_str().into()),
            ("left", self.left.json()),
            ("right", self.right.json()),
            ("product", self.product.json()),
        ])
    }
}

impl Exponential {
    fn json(&self) -> Value {
        object([
            ("label", self.label.as_str().into()),
            ("score", self.score.json()),
            ("difference", self.difference.json()),
            ("exponential", self.exponential.json()),
            ("closed", self.closed.into()),
            ("current", self.current.into()),
        ])
    }
}

fn texts(labels: &[String]) -> Value {
    list(labels, |label| label.as_str().into())
}
