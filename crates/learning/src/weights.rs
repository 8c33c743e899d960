//! The weights of the small transformer, with a note on how they were made: what
//! is demanded of them, whoever has read them. `file` makes of them a file in the
//! format safetensors, and reads such files.

#[cfg(feature = "safetensors")]
mod file;

#[cfg(feature = "safetensors")]
pub use file::{from_bytes, to_bytes};

use crate::model::Model;
use crate::training::SIZES;

/// The version of the format and of the model's design. Weights of another one
/// would have another meaning, even where their shapes fit.
pub const VERSION: u32 = 1;

/// The one entry of the file's metadata. There is no second one, for entries are
/// written in an order by chance, and the same weights should be the same file.
pub const NOTE: &str = "patterns";

/// How weights were made.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// The command that makes them again.
    pub command: String,
    /// Where all chance came from.
    pub seed: u32,
    /// How many steps there were.
    pub steps: usize,
    /// The loss on texts that no training has seen.
    pub loss: f64,
}

/// Why bytes are no weights of this model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// No safetensors file, or not all of it.
    #[error(
        "this is no whole safetensors file ({reason}): expected {NEEDED} weights of 4 bytes \
         behind a header, and got {bytes} bytes in all",
        NEEDED = SIZES.parameters()
    )]
    Broken {
        /// What the format's reader says.
        reason: String,
        /// How long it is.
        bytes: usize,
    },
    /// A safetensors file of something else.
    #[error("the file does not say how it was made: expected `{field}` in its entry `{NOTE}`")]
    NoNote {
        /// What is missing.
        field: &'static str,
    },
    /// Weights of another version.
    #[error("these are weights of version {found}: expected version {VERSION}")]
    Version {
        /// The version that the file says it has.
        found: String,
    },
    /// A matrix that is not there.
    #[error("the weights `{tensor}` are missing: expected them in the shape {expected:?}")]
    Missing {
        /// Its name.
        tensor: String,
        /// Its shape.
        expected: Vec<usize>,
    },
    /// A matrix of another shape or of other numbers.
    #[error("`{tensor}` has shape {found:?} of {dtype}: expected {expected:?} of F32")]
    Shape {
        /// Its name.
        tensor: String,
        /// Its shape in the file.
        found: Vec<usize>,
        /// The kind of its numbers in the file.
        dtype: String,
        /// Its shape in the model.
        expected: Vec<usize>,
    },
    /// NaN or ∞.
    #[error("`{tensor}` holds {number} at place {place}: expected finite numbers alone")]
    NotFinite {
        /// The name of the matrix.
        tensor: String,
        /// Where in it, counted from 0.
        place: usize,
        /// What is there.
        number: f32,
    },
    /// Numbers that are not those that were written.
    #[error(
        "the weights were changed after they were made: expected the sum {expected}, got {found}"
    )]
    Changed {
        /// The sum of the numbers that are there.
        found: String,
        /// The sum that was written beside them.
        expected: String,
    },
}

/// FNV-1a in 64 bits: enough to notice a changed byte, and no more.
fn checksum<'a>(bytes: impl Iterator<Item = &'a u8>) -> String {
    let sum = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{sum:016x}")
}

/// A matrix of a file, before anybody has looked whether it is the right one.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor<'a> {
    /// The kind of its numbers, as the file calls it.
    pub dtype: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its numbers.
    pub data: &'a [u8],
}

/// The model of a file that was taken apart: its note, and its matrices by name.
///
/// # Errors
///
/// [`Unreadable`], whatever they are: it says what was expected.
pub fn from_tensors<'a>(
    note: &str,
    tensor: impl Fn(&str) -> Option<Tensor<'a>>,
) -> Result<(Model<f32>, Made), Unreadable> {
    let note = Note(note);
    let version = note.field("version")?;
    if version != VERSION.to_string() {
        return Err(Unreadable::Version { found: version.to_owned() });
    }
    let made = note.made()?;
    let mut model = Model::zeros(SIZES);
    let names = Model::<f32>::zeros(SIZES);
    let mut written = Vec::with_capacity(SIZES.parameters() * 4);
    for ((name, _), mut weights) in names.tensors().iter().zip(model.tensors_mut()) {
        let data = checked(name, weights.shape(), tensor(name))?;
        written.extend_from_slice(data);
        let (numbers, _) = data.as_chunks::<4>();
        for (place, (weight, &number)) in weights.iter_mut().zip(numbers).enumerate() {
            *weight = finite(name, place, f32::from_le_bytes(number))?;
        }
    }
    let (expected, found) = (note.field("sum")?.to_owned(), checksum(written.iter()));
    if found != expected {
        return Err(Unreadable::Changed { found, expected });
    }
    Ok((model, made))
}

/// The numbers of a matrix, if it is there and has its shape.
fn checked<'a>(
    name: &str,
    shape: &[usize],
    tensor: Option<Tensor<'a>>,
) -> Result<&'a [u8], Unreadable> {
    let expected = shape.to_vec();
    let Some(Tensor { dtype, shape: found, data }) = tensor else {
        return Err(Unreadable::Missing { tensor: name.to_owned(), expected });
    };
    if dtype != "F32" || found != shape || data.len() != 4 * shape.iter().product::<usize>() {
        return Err(Unreadable::Shape { tensor: name.to_owned(), found, dtype, expected });
    }
    Ok(data)
}

fn finite(name: &str, place: usize, number: f32) -> Result<f32, Unreadable> {
    if number.is_finite() {
        Ok(number)
    } else {
        Err(Unreadable::NotFinite { tensor: name.to_owned(), place, number })
    }
}

/// The note of a file: a line for each thing that it says.
struct Note<'a>(&'a str);

impl<'a> Note<'a> {
    fn field(&self, field: &'static str) -> Result<&'a str, Unreadable> {
        let value = |line: &'a str| line.strip_prefix(field)?.strip_prefix(": ");
        self.0.lines().find_map(value).ok_or(Unreadable::NoNote { field })
    }

    fn number<T: std::str::FromStr>(&self, field: &'static str) -> Result<T, Unreadable> {
        self.field(field)?.parse().map_err(|_| Unreadable::NoNote { field })
    }

    fn made(&self) -> Result<Made, Unreadable> {
        Ok(Made {
            command: self.field("command")?.to_owned(),
            seed: self.number("seed")?,
            steps: self.number("steps")?,
            loss: self.number("loss")?,
        })
    }
}
