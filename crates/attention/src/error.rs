//! What can be wrong with a caller's input, said so that the caller can mend it.

use std::fmt;

/// Why attention could not be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two arguments have shapes that do not fit together.
    #[error(
        "{argument} has shape {} but {other} has shape {}: {rule} must be equal",
        Shape(shape),
        Shape(other_shape)
    )]
    Shape {
        /// The argument found to be wrong.
        argument: &'static str,
        /// Its shape.
        shape: Vec<usize>,
        /// The argument it must fit.
        other: &'static str,
        /// The shape of that one.
        other_shape: Vec<usize>,
        /// Which axes must be equal.
        rule: &'static str,
    },
    /// The scale is NaN or infinite.
    #[error("the scale is {0}, but it must be finite; without one, 1/√d is used")]
    Scale(f64),
    /// Tiles of no queries or no keys would never come to an end.
    #[error("tiles of {queries} queries and {keys} keys hold nothing: both must be at least 1")]
    EmptyTile {
        /// The queries of a tile.
        queries: usize,
        /// The keys of a tile.
        keys: usize,
    },
    /// An array would not fit in memory.
    #[error("{array} of shape {} cannot be allocated: there is not enough memory", Shape(shape))]
    TooLarge {
        /// What the array was to hold.
        array: &'static str,
        /// The shape that it would have.
        shape: Vec<usize>,
    },
}

/// Prints a shape as the book writes it: `(5, 3)`.
struct Shape<'a>(&'a [usize]);

impl fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (position, length) in self.0.iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            write!(f, "{separator}{length}")?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_error_names_both_arguments_and_their_shapes() {
        let error = Error::Shape {
            argument: "k",
            shape: vec![3, 7, 5],
            other: "q",
            other_shape: vec![3, 4, 6],
            rule: "their last axes (head size d)",
        };
        assert_eq!(
            error.to_string(),
            "k has shape (3, 7, 5) but q has shape (3, 4, 6): \
             their last axes (head size d) must be equal"
        );
    }
}
