//! The names of a head's matrices and the places in them. Which matrix comes
//! from which is known in `derive`, not here.

use crate::json::write::elements;
use crate::json::{Json, Unreadable};

/// A matrix of the head, in the order in which the data flows.
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
}

impl Name {
    /// Every matrix.
    pub(crate) const ALL: [Name; 12] = [
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
        }
    }

    /// The matrix of that name.
    pub(crate) fn read(text: &str) -> Result<Name, Unreadable> {
        let named = Name::ALL.into_iter().find(|name| name.text() == text);
        named.ok_or_else(|| format!("There is no matrix `{text}`."))
    }

    /// Whether a reader sets it; the others are computed.
    pub(crate) fn is_input(self) -> bool {
        matches!(self, Name::X | Name::QueryWeights | Name::KeyWeights | Name::ValueWeights)
    }

    /// The family by which it is coloured.
    pub(crate) fn family(self) -> &'static str {
        match self {
            Name::X => "input",
            Name::QueryWeights | Name::Queries => "query",
            Name::KeyWeights | Name::Keys => "key",
            Name::ValueWeights | Name::Values => "value",
            Name::Scores | Name::Scaled | Name::Masked => "score",
            Name::Weights => "weight",
            Name::Output => "output",
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
