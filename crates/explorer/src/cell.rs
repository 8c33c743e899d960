//! The names of a head's matrices, forward and backward, and the places in them.
//! Which matrix comes from which is known in `derive`, not here.

use crate::json::write::elements;
use crate::json::{Json, Unreadable};

/// A matrix of the head, in the order in which the data flows; and, for a head
/// with a target, of its backward pass, in the order in which the gradient flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    X,
    QueryWeights,
    KeyWeights,
    ValueWeights,
    Queries,
    Keys,
    Values,
    Scores,
    Scaled,
    Masked,
    Weights,
    Output,
    /// What the last token's output should be.
    Target,
    /// A single number.
    Loss,
    DOutput,
    DWeights,
    DValues,
    DMasked,
    DScaled,
    DScores,
    DQueries,
    DKeys,
    DQueryWeights,
    DKeyWeights,
    DValueWeights,
    DX,
}

impl Name {
    /// How many of them are of the forward pass.
    pub(crate) const FORWARD: usize = 12;

    /// Every matrix, the backward pass after the forward.
    pub(crate) const ALL: [Name; 26] = [
        Name::X,
        Name::QueryWeights,
        Name::KeyWeights,
        Name::ValueWeights,
        Name::Queries,
        Name::Keys,
        Name::Values,
        Name::Scores,
        Name::Scaled,
        Name::Masked,
        Name::Weights,
        Name::Output,
        Name::Target,
        Name::Loss,
        Name::DOutput,
        Name::DWeights,
        Name::DValues,
        Name::DMasked,
        Name::DScaled,
        Name::DScores,
        Name::DQueries,
        Name::DKeys,
        Name::DQueryWeights,
        Name::DKeyWeights,
        Name::DValueWeights,
        Name::DX,
    ];

    /// What it is called in requests and answers.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Name::X => "X",
            Name::QueryWeights => "W_Q",
            Name::KeyWeights => "W_K",
            Name::ValueWeights => "W_V",
            Name::Queries => "Q",
            Name::Keys => "K",
            Name::Values => "V",
            Name::Scores => "S",
            Name::Scaled => "scaled",
            Name::Masked => "masked",
            Name::Weights => "A",
            Name::Output => "O",
            Name::Target => "target",
            Name::Loss => "L",
            Name::DOutput => "dO",
            Name::DWeights => "dA",
            Name::DValues => "dV",
            Name::DMasked => "dmasked",
            Name::DScaled => "dscaled",
            Name::DScores => "dS",
            Name::DQueries => "dQ",
            Name::DKeys => "dK",
            Name::DQueryWeights => "dW_Q",
            Name::DKeyWeights => "dW_K",
            Name::DValueWeights => "dW_V",
            Name::DX => "dX",
        }
    }

    /// The matrix of that name.
    pub(crate) fn read(text: &str) -> Result<Name, Unreadable> {
        let named = Name::ALL.into_iter().find(|name| name.text() == text);
        named.ok_or_else(|| format!("There is no matrix `{text}`."))
    }

    /// Whether it is there only with a target.
    pub(crate) fn is_backward(self) -> bool {
        self as usize >= Name::FORWARD
    }

    /// Whether a reader sets it; the others are computed.
    pub(crate) fn is_input(self) -> bool {
        matches!(
            self,
            Name::X | Name::QueryWeights | Name::KeyWeights | Name::ValueWeights | Name::Target
        )
    }

    /// The matrix whose gradient it is, if it is one: it has its shape, its labels
    /// and its colour.
    pub(crate) fn subject(self) -> Option<Name> {
        Some(match self {
            Name::DOutput => Name::Output,
            Name::DWeights => Name::Weights,
            Name::DValues => Name::Values,
            Name::DMasked => Name::Masked,
            Name::DScaled => Name::Scaled,
            Name::DScores => Name::Scores,
            Name::DQueries => Name::Queries,
            Name::DKeys => Name::Keys,
            Name::DQueryWeights => Name::QueryWeights,
            Name::DKeyWeights => Name::KeyWeights,
            Name::DValueWeights => Name::ValueWeights,
            Name::DX => Name::X,
            _ => return None,
        })
    }

    /// The family by which it is coloured.
    pub(crate) fn family(self) -> &'static str {
        match self.subject().unwrap_or(self) {
            Name::X => "input",
            Name::QueryWeights | Name::Queries => "query",
            Name::KeyWeights | Name::Keys => "key",
            Name::ValueWeights | Name::Values => "value",
            Name::Scores | Name::Scaled | Name::Masked => "score",
            Name::Weights => "weight",
            _ => "output",
        }
    }
}

/// A cell: the matrix, the row and the column, written `["S", 4, 1]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(pub(crate) Name, pub(crate) usize, pub(crate) usize);

impl Json for Name {
    fn write(&self, text: &mut String) {
        self.text().write(text);
    }
}

impl Json for Place {
    fn write(&self, text: &mut String) {
        let Place(name, row, column) = self;
        elements(text, &mut [name as &dyn Json, row, column].into_iter());
    }
}
