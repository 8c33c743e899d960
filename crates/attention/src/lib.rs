//! The attention mechanism, step by step and in parallel.

mod error;
pub mod head;
mod mask;
mod options;
mod real;
pub mod recipe;
mod shape;

pub use error::Error;
pub use head::{Head, Trace};
pub use mask::Mask;
pub use ndarray;
pub use options::Options;
pub use real::Real;
