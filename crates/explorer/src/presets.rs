//! The heads to begin with: the one of the book's second chapter, and three
//! made by hand that each do one thing and nothing else.

mod backward;

pub(crate) use backward::backward;

use crate::json::{Json, object, written};
use crate::state::HeadState;
use attention::ndarray::Array2;
use worked::queries_keys_values as toy;

/// A head to begin with.
#[derive(Debug)]
pub(crate) struct Preset {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    pub(crate) state: HeadState,
}

object!(Preset { name, title, about, state });

/// Every preset; the toy head is the first.
pub(crate) fn all() -> Vec<Preset> {
    vec![toy_head(), previous(), same(), uniform()]
}

/// Every preset as JSON, as `Preset[]` in `types.d.ts` has it.
#[must_use]
pub fn json() -> String {
    written(&all() as &dyn Json)
}

/// The head of the chapter, with the chapter's own numbers.
fn toy_head() -> Preset {
    Preset {
        name: "toy",
        title: "the head of this chapter",
        about: "“the” looks for a thing and finds “cat”; the cat looks for an action, but the \
                only one comes later.",
        state: HeadState {
            tokens: owned(&toy::TOKENS),
            meanings: owned(&toy::MEANINGS),
            matches: owned(&toy::MATCHES),
            messages: owned(&toy::MESSAGES),
            x: typed(&toy::embeddings()),
            w_q: typed(&toy::query_weights()),
            w_k: typed(&toy::key_weights()),
            w_v: typed(&toy::value_weights()),
            mask: true,
            scale: true,
            target: None,
        },
    }
}

/// Each token looks at the one before it.
///
/// Position is told as by the hand of a clock that moves on by a sixth at every
/// token, so that it points to (cos, sin) of 0°, 60°, 120° and so on. `W_Q`
/// turns the hand back by a sixth, and a hand fits best where it points to.
fn previous() -> Preset {
    Preset {
        name: "previous",
        title: "look at the previous token",
        about: "Each query asks for the place before its own; the first token has nothing before \
                it and sees itself.",
        state: HeadState {
            tokens: owned(&["She", "gave", "the", "dog", "a", "bone"]),
            meanings: owned(&["hand right", "hand up", "thing", "action", "small word"]),
            matches: owned(&["place, right", "place, up"]),
            messages: owned(&["“thing”", "“action”", "“small word”"]),
            x: numbers(&[
                &["1", "0", "1", "0", "0"],
                &["0.5", "0.866", "0", "1", "0"],
                &["-0.5", "0.866", "0", "0", "1"],
                &["-1", "0", "1", "0", "0"],
                &["-0.5", "-0.866", "0", "0", "1"],
                &["0.5", "-0.866", "1", "0", "0"],
            ]),
            // 4 times a turn by −60°, for rows that stand left of the matrix.
            w_q: numbers(&[
                &["2", "-3.464"],
                &["3.464", "2"],
                &["0", "0"],
                &["0", "0"],
                &["0", "0"],
            ]),
            w_k: numbers(&[&["3", "0"], &["0", "3"], &["0", "0"], &["0", "0"], &["0", "0"]]),
            w_v: numbers(&[
                &["0", "0", "0"],
                &["0", "0", "0"],
                &["1", "0", "0"],
                &["0", "1", "0"],
                &["0", "0", "1"],
            ]),
            mask: true,
            scale: true,
            target: None,
        },
    }
}

/// Each token looks at the same word, wherever it is open.
///
/// The keys of the four words are corners of a cube, no two of them
/// neighbours: each fits itself with 3 and every other with −1.
fn same() -> Preset {
    Preset {
        name: "same",
        title: "look at the same token",
        about: "Each query asks for its own word; the second “to” and the second “be” share their \
                attention with the first.",
        state: HeadState {
            tokens: owned(&["to", "be", "or", "not", "to", "be"]),
            meanings: owned(&["is “to”", "is “be”", "is “or”", "is “not”"]),
            matches: owned(&["corner, 1st", "corner, 2nd", "corner, 3rd"]),
            messages: owned(&["“action”", "“small word”"]),
            x: numbers(&[
                &["1", "0", "0", "0"],
                &["0", "1", "0", "0"],
                &["0", "0", "1", "0"],
                &["0", "0", "0", "1"],
                &["1", "0", "0", "0"],
                &["0", "1", "0", "0"],
            ]),
            w_q: numbers(&[
                &["3", "3", "3"],
                &["3", "-3", "-3"],
                &["-3", "3", "-3"],
                &["-3", "-3", "3"],
            ]),
            w_k: numbers(&[
                &["1", "1", "1"],
                &["1", "-1", "-1"],
                &["-1", "1", "-1"],
                &["-1", "-1", "1"],
            ]),
            w_v: numbers(&[&["0", "1"], &["1", "0"], &["0", "1"], &["0", "1"]]),
            mask: true,
            scale: true,
            target: None,
        },
    }
}

/// Each token looks at every token it may look at, and at none more.
fn uniform() -> Preset {
    Preset {
        name: "uniform",
        title: "uniform",
        about: "Every query is zero and asks for nothing: all scores are 0, and each token takes \
                the plain average of what it may see.",
        state: HeadState {
            tokens: owned(&["Small", "mice", "eat", "old", "cheese"]),
            meanings: owned(&["thing", "action", "quality"]),
            matches: owned(&["1st", "2nd"]),
            messages: owned(&["“thing”", "“action”", "“quality”", "“any word”"]),
            x: numbers(&[
                &["0", "0", "1"],
                &["1", "0", "0"],
                &["0", "1", "0"],
                &["0", "0", "1"],
                &["1", "0", "0"],
            ]),
            w_q: numbers(&[&["0", "0"], &["0", "0"], &["0", "0"]]),
            w_k: numbers(&[&["1", "0"], &["0", "1"], &["1", "1"]]),
            w_v: numbers(&[&["1", "0", "0", "1"], &["0", "1", "0", "1"], &["0", "0", "1", "1"]]),
            mask: true,
            scale: true,
            target: None,
        },
    }
}

pub(crate) fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// Numbers as they would be typed.
pub(crate) fn typed(numbers: &Array2<f64>) -> Vec<Vec<String>> {
    numbers.outer_iter().map(|row| row.iter().map(f64::to_string).collect()).collect()
}

fn numbers(rows: &[&[&str]]) -> Vec<Vec<String>> {
    rows.iter().map(|row| owned(row)).collect()
}
