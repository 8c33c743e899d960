//! The engine of the book's widgets: takes what a reader changed, as JSON, and
//! answers with what to show: numbers, shades, derivations, sentences. All the
//! mathematics is in `attention`; nothing here knows of HTML or the browser.
//!
//! It is built as three engines, by Cargo features: `head` looks into one head,
//! `models` at whole models, and `reader` reads with a trained one. The same code runs as WebAssembly in the page and
//! natively where the page is built, and gives the same text to the letter. What
//! can be asked is written down in `book/src/widgets/types.d.ts`.
//!
//! ```
//! let answer = explorer::answer(r#"{"ask": "step", "text": "0.1", "by": 2}"#);
//! assert_eq!(answer, r#"{"text":"0.3"}"#);
//! ```

#![cfg_attr(
    not(all(feature = "head", feature = "models", feature = "reader")),
    allow(dead_code, reason = "an engine needs only its part of what the two share")
)]

pub mod abi;
#[cfg(feature = "head")]
mod backward;
mod cell;
#[cfg(feature = "models")]
mod cost;
#[cfg(feature = "head")]
mod derive;
#[cfg(feature = "head")]
mod head;
mod json;
#[cfg(feature = "head")]
mod lookup;
mod number;
#[cfg(feature = "worked")]
pub mod presets;
#[cfg(feature = "reader")]
mod reader;
mod request;
#[cfg(feature = "head")]
mod shade;
#[cfg(feature = "head")]
mod state;
#[cfg(feature = "head")]
mod tokens;
#[cfg(feature = "models")]
mod trainer;
#[cfg(feature = "worked")]
pub mod widgets;
#[cfg(feature = "head")]
mod words;
mod written;

pub use request::answer;
#[cfg(feature = "reader")]
pub use request::keep_weights;

/// The ledger with every value of the book: those of the worked examples, and
/// the widgets.
///
/// ```
/// let ledger = explorer::ledger();
/// assert_eq!(ledger.faults(), []);
/// assert_eq!(ledger.get("qkv.widget").unwrap().value().kind(), "widget");
/// assert!(ledger.get("qkv.weights").is_some());
/// ```
#[cfg(feature = "worked")]
#[must_use]
pub fn ledger() -> ledger::Ledger {
    let mut ledger = worked::ledger();
    widgets::enter(&mut ledger);
    ledger
}
