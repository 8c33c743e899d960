//! The requests of the engine that looks into one head, and at a soft lookup.

use super::typing::reply;
use crate::cell::{Name, Place};
use crate::head::{Computed, HeadAnswer, Refusal};
use crate::json::{Unreadable, Value, written};
use crate::number::Typed;
use crate::state::HeadState;
use crate::{derive, lookup, tokens};

pub(super) fn dispatch(ask: &str, request: &Value) -> Option<Result<String, Unreadable>> {
    Some(match ask {
        "head" => head(request),
        "cell" => cell(request),
        "token" => token(request),
        "lookup" => look_up(request),
        "point" => point(request),
        "nudge" => nudge(request),
        _ => return None,
    })
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

fn token(request: &Value) -> Result<String, Unreadable> {
    let state = HeadState::read(request.member("state")?)?;
    Ok(reply("state", tokens::change(state, request.member("change")?)?))
}

fn look_up(request: &Value) -> Result<String, Unreadable> {
    let state = lookup::State::read(request.member("state")?)?;
    lookup::answer(state).map(|answer| written(&answer))
}

fn point(request: &Value) -> Result<String, Unreadable> {
    let query = lookup::point(request.number("x")?, request.number("y")?);
    Ok(reply("query", Ok(texts(query))))
}

fn nudge(request: &Value) -> Result<String, Unreadable> {
    let query = request.texts("query")?;
    let [x, y] = query.as_slice() else {
        return Err("`query` is not a list of two texts.".to_owned());
    };
    let by = [request.whole("x")?, request.whole("y")?];
    let query = Typed::read(x).and_then(|x| Ok([x, Typed::read(y)?]));
    Ok(reply("query", query.map(|query| texts(lookup::nudged(query, by)))))
}

fn texts(query: [Typed; 2]) -> Vec<String> {
    query.map(|number| number.to_string()).into()
}
