//! Models that learn, on top of `attention`'s forward and backward pass. It
//! knows nothing of the book that tells of them, nor of the page that shows them.

mod random;
pub mod single_head;

pub use random::Random;
