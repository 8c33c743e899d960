//! Models that learn, on top of `attention`'s forward and backward pass. It
//! knows nothing of the book that tells of them, nor of the page that shows them.

pub mod adam;
mod error;
pub mod grammar;
pub mod model;
pub mod norm;
mod parallel;
pub mod patterns;
mod product;
mod random;
pub mod reader;
pub mod single_head;
pub mod training;
pub mod vocabulary;
pub mod weights;

pub use error::Error;
pub use random::Random;
