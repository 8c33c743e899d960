//! JSON, as much of it as the engine needs: `read` takes requests apart, and
//! `write` puts answers together. It is here for its size: a general library
//! makes the engine larger by a quarter, which every reader would download.

pub(crate) mod read;
pub(crate) mod write;

pub(crate) use read::{Unreadable, Value};
pub(crate) use write::{Json, object, written};
