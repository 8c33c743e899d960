//! The request of the engine that reads with a trained model, and its weights.

use crate::json::{Unreadable, Value, written};
use crate::reader;

pub(super) fn dispatch(ask: &str, request: &Value) -> Option<Result<String, Unreadable>> {
    match ask {
        "read" => Some(reader::answer(request).map(|answer| written(&answer))),
        _ => None,
    }
}

/// Keeps the weights of a model, for requests to `read`.
pub(super) fn keep_weights(bytes: &[u8]) -> Result<String, Unreadable> {
    reader::keep(bytes).map(|kept| written(&kept))
}
