//! From the text of a request to the text of its answer. To teach the engine a
//! new request, add a function and a line to the `dispatch` of its part.

#[cfg(feature = "head")]
mod head;
#[cfg(feature = "models")]
mod models;
#[cfg(feature = "reader")]
mod reader;
#[cfg(any(feature = "head", feature = "models"))]
mod typing;

use crate::json::{Unreadable, Value, object, written};

/// Requests that belong together: the answer to one of them by its name, and
/// nothing to any other.
type Part = fn(&str, &Value) -> Option<Result<String, Unreadable>>;

/// Answers one request: JSON to JSON.
///
/// Whatever the request, there is an answer: where it cannot be read, that is
/// `{"error": "a sentence that says why"}`.
#[must_use]
pub fn answer(request: &str) -> String {
    let answer = Value::read(request)
        .ok_or_else(|| "The request is not JSON.".to_owned())
        .and_then(|request| dispatch(&request));
    answer.unwrap_or_else(|error| written(&Failure { error }))
}

/// Keeps the bytes of a file of weights, and answers as [`answer`] does: with how
/// many heads the model has, or with why these are no weights of it.
#[cfg(feature = "reader")]
#[must_use]
pub fn keep_weights(bytes: &[u8]) -> String {
    reader::keep_weights(bytes).unwrap_or_else(|error| written(&Failure { error }))
}

/// The answer of the part that knows the request.
fn dispatch(request: &Value) -> Result<String, Unreadable> {
    let ask = request.text("ask")?;
    let parts: [Part; _] = [
        #[cfg(any(feature = "head", feature = "models"))]
        typing::dispatch,
        #[cfg(feature = "head")]
        head::dispatch,
        #[cfg(feature = "models")]
        models::dispatch,
        #[cfg(feature = "reader")]
        reader::dispatch,
    ];
    parts
        .into_iter()
        .find_map(|part| part(ask, request))
        .unwrap_or_else(|| Err("There is no such request: see `ask`.".to_owned()))
}

/// The answer to a request that cannot be read.
struct Failure {
    error: Unreadable,
}

object!(Failure { error });
