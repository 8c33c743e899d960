//! The requests of the engine that looks at whole models.

use super::reply;
use crate::json::{Unreadable, Value, written};
use crate::{cost, reader, trainer};

pub(super) fn dispatch(ask: &str, request: &Value) -> Option<Result<String, Unreadable>> {
    Some(match ask {
        "cost" => count(request),
        "double" => double(request),
        "train" => trainer::answer(request),
        "read" => read(request),
        _ => return None,
    })
}

fn count(request: &Value) -> Result<String, Unreadable> {
    cost::answer(request.member("state")?).map(|answer| written(&answer))
}

fn double(request: &Value) -> Result<String, Unreadable> {
    Ok(reply("text", cost::doubled(request.text("text")?, request.whole("times")?)))
}

fn read(request: &Value) -> Result<String, Unreadable> {
    reader::answer(request).map(|answer| written(&answer))
}

/// Keeps the weights of the trained transformer for requests to `read`.
pub(super) fn keep_weights(bytes: &[u8]) -> Result<String, Unreadable> {
    reader::keep(bytes).map(|kept| written(&kept))
}
