//! The requests of every field in which numbers are typed, and how what is typed
//! is answered.

use crate::json::write::members;
use crate::json::{Json, Unreadable, Value};
use crate::number::Typed;

pub(super) fn dispatch(ask: &str, request: &Value) -> Option<Result<String, Unreadable>> {
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
pub(super) fn reply(name: &'static str, answer: Result<impl Json, String>) -> String {
    let mut text = String::new();
    match answer {
        Ok(answer) => members(&mut text, &[(name, &answer)]),
        Err(sentence) => members(&mut text, &[("sentence", &sentence)]),
    }
    text
}
