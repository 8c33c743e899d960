//! From the text of a request to the text of its answer. To teach the engine a
//! new request, add a function here and a line to `dispatch`.

use crate::cell::{Name, Place};
use crate::head::{Computed, Refusal};
use crate::json::{Unreadable, float, index, list, member, object, text, texts, whole};
use crate::number::Typed;
use crate::state::HeadState;
use crate::{derive, lookup, tokens};
use serde_json::Value;

/// Answers one request: JSON to JSON.
///
/// Whatever the request, there is an answer: where it cannot be read, that is
/// `{"error": "a sentence that says why"}`.
#[must_use]
pub fn answer(request: &str) -> String {
    let answer = serde_json::from_str(request)
        .map_err(|error| format!("The request is not JSON: {error}."))
        .and_then(|request: Value| dispatch(&request));
    answer.unwrap_or_else(|sentence| object([("error", sentence.into())])).to_string()
}

fn dispatch(request: &Value) -> Result<Value, Unreadable> {
    match text(request, "ask")? {
        "head" => head(request),
        "cell" => cell(request),
        "number" => Ok(typed(Typed::read(text(request, "text")?))),
        "step" => step(request),
        "token" => token(request),
        "lookup" => lookup::answer(member(request, "state")?),
        "point" => Ok(query(lookup::point(float(request, "x")?, float(request, "y")?))),
        "nudge" => nudge(request),
        _ => Err("There is no such request: see `ask`.".to_owned()),
    }
}

fn head(request: &Value) -> Result<Value, Unreadable> {
    match Computed::new(HeadState::read(member(request, "state")?)?) {
        Ok(computed) => Ok(computed.json()),
        Err(Refusal::Problems(problems)) => Ok(object([
            ("matrices", Value::Array(Vec::new())),
            ("problems", list(&problems, |problem| problem.json())),
        ])),
        Err(Refusal::Unreadable(sentence)) => Err(sentence),
    }
}

fn cell(request: &Value) -> Result<Value, Unreadable> {
    let name = Name::read(text(request, "matrix")?)?;
    let place = Place(name, index(request, "row")?, index(request, "column")?);
    match Computed::new(HeadState::read(member(request, "state")?)?) {
        Ok(computed) => Ok(derive::cell(&computed, place)?.json()),
        Err(Refusal::Problems(_)) => {
            Err("The head cannot be computed while there are problems in it.".to_owned())
        }
        Err(Refusal::Unreadable(sentence)) => Err(sentence),
    }
}

fn step(request: &Value) -> Result<Value, Unreadable> {
    let by = whole(request, "by")?;
    Ok(typed(Typed::read(text(request, "text")?).map(|number| number.stepped(by))))
}

fn token(request: &Value) -> Result<Value, Unreadable> {
    let state = HeadState::read(member(request, "state")?)?;
    Ok(match tokens::change(state, member(request, "change")?)? {
        Ok(state) => object([("state", state.json())]),
        Err(sentence) => object([("sentence", sentence.into())]),
    })
}

fn nudge(request: &Value) -> Result<Value, Unreadable> {
    let query_text = texts(request, "query")?;
    let [x, y] = query_text.as_slice() else {
        return Err("`query` is not a list of two texts.".to_owned());
    };
    let (by_x, by_y) = (whole(request, "x")?, whole(request, "y")?);
    Ok(match Typed::read(x).and_then(|x| Ok([x, Typed::read(y)?])) {
        Ok([x, y]) => query(lookup::nudged([x, y], [by_x, by_y])),
        Err(sentence) => object([("sentence", sentence.into())]),
    })
}

fn typed(number: Result<Typed, String>) -> Value {
    match number {
        Ok(number) => object([("text", number.to_string().into())]),
        Err(sentence) => object([("sentence", sentence.into())]),
    }
}

fn query(numbers: [Typed; 2]) -> Value {
    object([("query", list(numbers, |number| number.to_string().into()))])
}
