//! What each matrix is called in the page, and a line on what it is. A switch
//! that is off changes both.

use crate::cell::Name;
use crate::state::HeadState;

/// A matrix's symbol, without TeX: `W_Q`, `S/√d`.
pub(crate) fn symbol(name: Name, state: &HeadState) -> &'static str {
    match (name, state.scale, state.mask) {
        (Name::Scaled, true, _) | (Name::Masked, true, false) => "S/√d",
        (Name::Scaled, false, _) | (Name::Masked, false, false) => "S",
        (Name::Masked, true, true) => "S/√d + M",
        (Name::Masked, false, true) => "S + M",
        (Name::Target, ..) => "t",
        (Name::DMasked, ..) => "dS′",
        (Name::DScaled, true, _) => "d(S/√d)",
        (Name::DScaled, false, _) => "d(S)",
        (name, ..) => name.text(),
    }
}

/// A line on what a matrix is.
pub(crate) fn about(name: Name, state: &HeadState) -> &'static str {
    match name {
        Name::X => "each token’s embedding",
        Name::QueryWeights => "what each meaning makes a token look for",
        Name::KeyWeights => "what each meaning lets a token be found as",
        Name::ValueWeights => "what each meaning makes a token pass on",
        Name::Queries => "each token’s query: what it looks for",
        Name::Keys => "each token’s key: what it is found by",
        Name::Values => "each token’s value: what it passes on",
        Name::Scores => "the score of each query (row) with each key (column)",
        Name::Scaled if state.scale => "the scores divided by √d",
        Name::Scaled => "the scores as they are: dividing by √d is switched off",
        Name::Masked if state.mask => "the scores, −∞ where the key is later than the query",
        Name::Masked => "the scores as they are: the mask is switched off",
        Name::Weights => "how much of its attention each query (row) gives to each key (column)",
        Name::Output => "each token’s output: the weighted average of the values",
        Name::Target => "what the output of the last token should be",
        Name::Loss => "the loss: half the squared distance of the last output from the target",
        Name::DOutput => "how the loss changes with each number of the output",
        Name::DWeights => "how the loss changes with each weight of attention",
        Name::DValues => "how the loss changes with each number of the values",
        Name::DMasked => "how the loss changes with each score that softmax is given",
        Name::DScaled => "how the loss changes with each score before the mask",
        Name::DScores => "how the loss changes with each score",
        Name::DQueries => "how the loss changes with each number of the queries",
        Name::DKeys => "how the loss changes with each number of the keys",
        Name::DQueryWeights => "how the loss changes with each weight that makes queries",
        Name::DKeyWeights => "how the loss changes with each weight that makes keys",
        Name::DValueWeights => "how the loss changes with each weight that makes values",
        Name::DX => "how the loss changes with each number of the embeddings",
    }
}
