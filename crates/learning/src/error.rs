//! What can be wrong with what the small transformer is given.

/// Why a text could not be read, or learned from.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing to read.
    #[error("there is no word to read")]
    Empty,
    /// More tokens than the model has positions for.
    #[error("{tokens} tokens are too many: the model reads {context} at most")]
    TooLong {
        /// How many there are.
        tokens: usize,
        /// How many there may be.
        context: usize,
    },
    /// A number that stands for no word.
    #[error("there is no word {word}: the model knows {words}, counted from 0")]
    NoSuchWord {
        /// The number.
        word: usize,
        /// How many words there are.
        words: usize,
    },
    /// A head that the model does not have.
    #[error("there is no head {head} in layer {layer}, each counted from 0")]
    NoSuchHead {
        /// The layer.
        layer: usize,
        /// The head.
        head: usize,
    },
    /// What should have been predicted does not fit what was read.
    #[error(
        "{tokens} tokens need as many words to predict, each known to the model, not {targets}"
    )]
    Targets {
        /// How many tokens were read.
        tokens: usize,
        /// How many words to predict were given.
        targets: usize,
    },
    /// The loss is no number any more.
    #[error("the loss is no number after step {step}: the learning rate is too high")]
    Diverged {
        /// The step, counted from 1.
        step: usize,
    },
    /// What `attention` found wrong.
    #[error(transparent)]
    Attention(#[from] attention::Error),
}
