//! The lines of a derivation: what is computed from what, number by number. How
//! a line looks is the page's business.

use crate::json::write::members;
use crate::json::{Json, object};
use crate::written::Num;

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
    /// Words, perhaps on how the numbers shown are rounded.
    Sentence {
        sentence: String,
        /// Present where they are.
        rounding: Option<bool>,
    },
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

object!(Product { label, left, right, product });
object!(Exponential { label, score, difference, exponential, closed, current });

impl Json for Line {
    fn write(&self, text: &mut String) {
        let mut line = |kind: &'static str, rest: &[(&str, &dyn Json)]| {
            let kind: (&str, &dyn Json) = ("kind", &kind);
            members(text, &[&[kind], rest].concat());
        };
        match self {
            Line::Products { terms, sum } => line("products", &[("terms", terms), ("sum", sum)]),
            Line::Scaled { score, factor, root, size, result } => line(
                "scaled",
                &[
                    ("score", score),
                    ("factor", factor),
                    ("root", root),
                    ("size", size),
                    ("result", result),
                ],
            ),
            Line::Same { score, result, sentence } => {
                line("same", &[("score", score), ("result", result), ("sentence", sentence)]);
            }
            Line::Mask { open, score, result, sentence } => line(
                "mask",
                &[("open", open), ("score", score), ("result", result), ("sentence", sentence)],
            ),
            Line::Largest { labels, numbers, result } => {
                line("largest", &[("labels", labels), ("numbers", numbers), ("result", result)]);
            }
            Line::Exponentials { largest, terms } => {
                line("exponentials", &[("largest", largest), ("terms", terms)]);
            }
            Line::Sum { labels, terms, sum } => {
                line("sum", &[("labels", labels), ("terms", terms), ("sum", sum)]);
            }
            Line::Quotient { top, bottom, result } => {
                line("quotient", &[("top", top), ("bottom", bottom), ("result", result)]);
            }
            Line::Sentence { sentence, rounding } => {
                line("sentence", &[("sentence", sentence), ("rounding", rounding)]);
            }
        }
    }
}
