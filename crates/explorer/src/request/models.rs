//! The requests of the engine that looks at whole models.

use super::typing::reply;
use crate::json::{Unreadable, Value, written};
use crate::{cost, trainer};

pub(super) fn dispatch(ask: &str, request: &Value) -> Option<Result<String, Unreadable>> {
    Some(match ask {
        "cost" => count(request),
        "double" => double(request),
        "train" => trainer::answer(request),
        _ => return None,
    })
}

fn count(request: &Value) -> Result<String, Unreadable> {
    cost::answer(request.member("state")?).map(|answer| written(&answer))
}

fn double(request: &Value) -> Result<String, Unreadable> {
    Ok(reply("text", cost::doubled(request.text("text")?, request.whole("times")?)))
}
