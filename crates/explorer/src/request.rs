//! From the text of a request to the text of its answer. To teach the engine a
//! new request, add a function here and a line to `dispatch`.

use crate::cell::{Name, Place};
use crate::head::{Computed, HeadAnswer, Refusal};
use crate::json::write::members;
use crate::json::{Json, Unreadable, Value, object, written};
use crate::number::Typed;
use crate::state::HeadState;
use crate::{cost, derive, lookup, tokens};

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

fn dispatch(request: &Value) -> Result<String, Unreadable> {
    match request.text("ask")? {
        "head" => head(request),
        "cell" => cell(request),
        "number" => number(request),
        "step" => step(request),
        "token" => token(request),
        "lookup" => look_up(request),
        "point" => point(request),
        "nudge" => nudge(request),
        "cost" => count(request),
        "double" => double(request),
        _ => Err("There is no such request: see `ask`.".to_owned()),
    }
}

fn head(request: &Value) -> Result<String, Unreadable> {
    match Computed::new(HeadState::read(request.member("state")?)?) {
        Ok(computed) => Ok(written(&computed.answer())),
        Err(Refusal::Problems(problems)) => {
            Ok(written(&HeadAnswer { matrices: Vec::new(), problems }))
        }
        Err(Refusal::Unreadable(sentence)) => Err(sentence),
    }
}

fn cell(request: &Value) -> Result<String, Unreadable> {
    let name = Name::read(request.text("matrix")?)?;
    let place = Place(name, request.index("row")?, request.index("column")?);
    match Computed::new(HeadState::read(request.member("state")?)?) {
        Ok(computed) => Ok(written(&derive::cell(&computed, place)?)),
        Err(Refusal::Problems(_)) => {
            Err("The head cannot be computed while there are problems in it.".to_owned())
        }
        Err(Refusal::Unreadable(sentence)) => Err(sentence),
    }
}

fn number(request: &Value) -> Result<String, Unreadable> {
    Ok(written(&Reply::number(Typed::read(request.text("text")?))))
}

fn step(request: &Value) -> Result<String, Unreadable> {
    let by = request.whole("by")?;
    let number = Typed::read(request.text("text")?);
    Ok(written(&Reply::number(number.map(|number| number.stepped(by)))))
}

fn token(request: &Value) -> Result<String, Unreadable> {
    let state = HeadState::read(request.member("state")?)?;
    let changed = tokens::change(state, request.member("change")?)?;
    Ok(written(&changed.map_or_else(Reply::Sentence, Reply::State)))
}

fn look_up(request: &Value) -> Result<String, Unreadable> {
    let state = lookup::State::read(request.member("state")?)?;
    lookup::answer(state).map(|answer| written(&answer))
}

fn point(request: &Value) -> Result<String, Unreadable> {
    let query = lookup::point(request.number("x")?, request.number("y")?);
    Ok(written(&Reply::query(Ok(query))))
}

fn nudge(request: &Value) -> Result<String, Unreadable> {
    let query = request.texts("query")?;
    let [x, y] = query.as_slice() else {
        return Err("`query` is not a list of two texts.".to_owned());
    };
    let by = [request.whole("x")?, request.whole("y")?];
    let query = Typed::read(x).and_then(|x| Ok([x, Typed::read(y)?]));
    Ok(written(&Reply::query(query.map(|query| lookup::nudged(query, by)))))
}

fn count(request: &Value) -> Result<String, Unreadable> {
    cost::answer(request.member("state")?).map(|answer| written(&answer))
}

fn double(request: &Value) -> Result<String, Unreadable> {
    let doubled = cost::doubled(request.text("text")?, request.whole("times")?);
    Ok(written(&doubled.map_or_else(Reply::Sentence, Reply::Text)))
}

/// The answer to a request that cannot be read.
struct Failure {
    error: Unreadable,
}

object!(Failure { error });

/// What was asked for, or a sentence for the reader who typed something else.
enum Reply {
    Text(String),
    Query(Vec<String>),
    State(HeadState),
    Sentence(String),
}

impl Reply {
    fn number(number: Result<Typed, String>) -> Reply {
        number.map_or_else(Reply::Sentence, |number| Reply::Text(number.to_string()))
    }

    fn query(query: Result<[Typed; 2], String>) -> Reply {
        query
            .map_or_else(Reply::Sentence, |query| Reply::Query(query.map(|x| x.to_string()).into()))
    }
}

impl Json for Reply {
    fn write(&self, text: &mut String) {
        let member: (&str, &dyn Json) = match self {
            Reply::Text(number) => ("text", number),
            Reply::Query(query) => ("query", query),
            Reply::State(state) => ("state", state),
            Reply::Sentence(sentence) => ("sentence", sentence),
        };
        members(text, &[member]);
    }
}
