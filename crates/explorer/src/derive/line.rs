//! The lines of a derivation: what is computed from what, number by number. How
//! a line looks is the page's business.

use crate::json::write::members;
use crate::json::{Json, object};
use crate::written::Num;

/// A step of a computation, or a sentence about it.
#[derive(Debug)]
pub(crate) enum Line {
    /// A dot product, and what its sum is called where it has a name.
    Products { name: Option<&'static str>, terms: Vec<Product>, sum: Num },
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
    /// A plain sum, and what it is called; without a name, of exponentials.
    Sum { name: Option<&'static str>, labels: Vec<String>, terms: Vec<Num>, sum: Num },
    /// A division.
    Quotient { top: Num, bottom: Num, result: Num },
    /// The squares of some differences, and their sum.
    Squares { terms: Vec<Square>, sum: Num },
    /// A single difference; what its three numbers are.
    Minus { labels: [&'static str; 3], left: Num, right: Num, result: Num },
    /// A single product.
    Times { labels: [&'static str; 3], left: Num, right: Num, result: Num },
    /// A gradient that is 0 without a computation, and why.
    Zero { result: Num, sentence: String },
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

/// One term of a loss.
#[derive(Debug)]
pub(crate) struct Square {
    pub(crate) label: String,
    pub(crate) left: Num,
    pub(crate) right: Num,
    pub(crate) difference: Num,
    pub(crate) square: Num,
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
object!(Square { label, left, right, difference, square });
object!(Exponential { label, score, difference, exponential, closed, current });

impl Json for Line {
    fn write(&self, text: &mut String) {
        let mut line = |kind: &'static str, rest: &[(&str, &dyn Json)]| {
            let kind: (&str, &dyn Json) = ("kind", &kind);
            members(text, &[&[kind], rest].concat());
        };
        match self {
            Line::Products { name, terms, sum } => {
                line("products", &[("name", name), ("terms", terms), ("sum", sum)]);
            }
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
            Line::Sum { name, labels, terms, sum } => {
                line("sum", &[("name", name), ("labels", labels), ("terms", terms), ("sum", sum)]);
            }
            Line::Quotient { top, bottom, result } => {
                line("quotient", &[("top", top), ("bottom", bottom), ("result", result)]);
            }
            Line::Squares { terms, sum } => line("squares", &[("terms", terms), ("sum", sum)]),
            Line::Minus { labels, left, right, result } => {
                line("minus", &binary(labels, left, right, result));
            }
            Line::Times { labels, left, right, result } => {
                line("times", &binary(labels, left, right, result));
            }
            Line::Zero { result, sentence } => {
                line("zero", &[("result", result), ("sentence", sentence)]);
            }
            Line::Sentence { sentence, rounding } => {
                line("sentence", &[("sentence", sentence), ("rounding", rounding)]);
            }
        }
    }
}

/// The members of a computation with two numbers.
fn binary<'a>(
    labels: &'a [&'static str; 3],
    left: &'a Num,
    right: &'a Num,
    result: &'a Num,
) -> [(&'static str, &'a dyn Json); 4] {
    [("labels", labels), ("left", left), ("right", right), ("result", result)]
}
