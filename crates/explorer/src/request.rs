//! From the text of a request to the text of its answer. To teach the engine a
//! new request, add a function and a line to the `dispatch` of its part.

#[cfg(feature = "head")]
mod head;
#[cfg(feature = "models")]
mod models;

use crate::json::write::members;
use crate::json::{Json, Unreadable, Value, object, written};
use crate::number::Typed;

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
#[cfg(feature = "models")]
#[must_use]
pub fn keep_weights(bytes: &[u8]) -> String {
    models::keep_weights(bytes).unwrap_or_else(|error| written(&Failure { error }))
}

/// The answer of the part that knows the request.
fn dispatch(request: &Value) -> Result<String, Unreadable> {
    let ask = request.text("ask")?;
    let parts: [Part; _] = [
        typing,
        #[cfg(feature = "head")]
        head::dispatch,
        #[cfg(feature = "models")]
        models::dispatch,
    ];
    parts
        .into_iter()
        .find_map(|part| part(ask, request))
        .unwrap_or_else(|| Err("There is no such request: see `ask`.".to_owned()))
}

/// What every field asks in which numbers are typed.
fn typing(ask: &str, request: &Value) -> Option<Result<String, Unreadable>> {
    match ask {
        "number" => Some(number(request)),
        "step" => Some(step(request)),
        _ => None,
    }
}

fn number(request: &Value) -> Result<String, Unreadable> {
    let number = Typed::read(request.text("text")?);
    Ok(reply("text", number.map(|number| number.to_string())))
}

fn step(request: &Value) -> Result<String, Unreadable> {
    let by = request.whole("by")?;
    let number = Typed::read(request.text("text")?);
    Ok(reply("text", number.map(|number| number.stepped(by).to_string())))
}

/// What was asked for, under its name, or a sentence for the reader who typed
/// something else.
fn reply(name: &'static str, answer: Result<impl Json, String>) -> String {
    let mut text = String::new();
    match answer {
        Ok(answer) => members(&mut text, &[(name, &answer)]),
        Err(sentence) => members(&mut text, &[("sentence", &sentence)]),
    }
    text
}

/// The answer to a request that cannot be read.
struct Failure {
    error: Unreadable,
}

object!(Failure { error });
