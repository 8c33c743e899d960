//! One attention head that starts random and learns: to find the noun of a
//! sentence, or the word before. It is trained by plain gradient descent, so that
//! every step can be followed; it is no library for training models.
//!
//! The head reads a sentence and gives, at each position, a number for every word
//! there is. A softmax makes probabilities of them; the loss is how little the
//! right word was expected. Nothing but `W_Q`, `W_K` and `W_V` is learned.
//!
//! ```
//! use learning::single_head::{State, Task, Training};
//!
//! let mut training = Training::new(Task::Noun, 7, 1.0)?;
//! while training.state() == State::Learning {
//!     training.step()?;
//! }
//! assert_eq!(training.state(), State::Learned);
//! assert!(training.attention_to_source() > 0.9);
//! # Ok::<(), learning::single_head::Error>(())
//! ```

mod loss;
mod sentence;
mod training;

pub use loss::{Gradient, Score, gradient, score};
pub use sentence::{Question, Sentence, Task, WORDS, draw};
pub use training::{State, Training};

/// `T`, the most tokens of a sentence.
pub const TOKENS: usize = 6;
/// `d_model`: each word has a column of the embeddings to itself, and then each position.
pub const D_MODEL: usize = WORDS.len() + TOKENS;
/// `d`, the numbers in a query or a key.
pub const D: usize = 4;
/// `d_v`: a value says something about every word.
pub const D_V: usize = WORDS.len();

/// How far the random weights lie from 0 when training begins, as a standard deviation.
pub const SPREAD: f64 = 0.2;
/// How many sentences each step learns from.
pub const BATCH: usize = 8;
/// How many sentences the head is examined with, and never learns from.
pub const EXAM: usize = 16;
/// The loss in the exam below which the task counts as learned ...
pub const PASSED: f64 = 0.05;
/// ... once it has stayed there for so many steps.
pub const STAYED: usize = 20;
/// Training has failed once the loss is so many times that of the start.
pub const EXPLODED: f64 = 4.0;
/// Training ends after so many steps, learned or not.
pub const LONGEST: usize = 1000;

/// Why a training cannot begin or go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The learning rate is no positive number.
    #[error("the learning rate is {0}, but it must be a finite number above 0")]
    Rate(f64),
    /// The head could not be computed.
    #[error(transparent)]
    Attention(#[from] attention::Error),
}

#[cfg(test)]
mod tests;
