//! The weights of the small transformer as a file: safetensors, with a note on
//! how they were made. It makes bytes and reads them, and opens no file.

use crate::model::Model;
use crate::training::SIZES;
use ndarray::ArrayViewD;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensorError, SafeTensors};

/// The version of the format and of the model's design. Weights of another one
/// would have another meaning, even where their shapes fit.
pub const VERSION: u32 = 1;

/// The one entry of the file's metadata. There is no second one, for the crate
/// writes entries in an order by chance, and the same weights should be the same file.
const NOTE: &str = "patterns";

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

/// The file of a model: the same bytes for the same weights.
///
/// # Errors
///
/// [`SafeTensorError`] if the format cannot hold them.
pub fn to_bytes(model: &Model<f32>, made: &Made) -> Result<Vec<u8>, SafeTensorError> {
    let tensors = model.tensors();
    let bytes: Vec<Vec<u8>> = tensors.iter().map(|(_, tensor)| bytes_of(tensor)).collect();
    let sum = checksum(bytes.iter().flatten());
    let Made { command, seed, steps, loss } = made;
    let note = format!(
        "version: {VERSION}\ncommand: {command}\nseed: {seed}\nsteps: {steps}\nloss: {loss}\nsum: {sum}\n"
    );
    let mut views = Vec::with_capacity(tensors.len());
    for ((name, tensor), bytes) in tensors.iter().zip(&bytes) {
        views.push((name, TensorView::new(Dtype::F32, tensor.shape().to_vec(), bytes)?));
    }
    safetensors::serialize(views, Some([(NOTE.to_owned(), note)].into_iter().collect()))
}

fn bytes_of(tensor: &ArrayViewD<f32>) -> Vec<u8> {
    tensor.iter().flat_map(|weight| weight.to_le_bytes()).collect()
}

/// FNV-1a in 64 bits: enough to notice a changed byte, and no more.
fn checksum<'a>(bytes: impl Iterator<Item = &'a u8>) -> String {
    let sum = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{sum:016x}")
}

/// The model of a file, and how it was made.
///
/// # Errors
///
/// [`Unreadable`], whatever the bytes are: it says what was expected.
pub fn from_bytes(bytes: &[u8]) -> Result<(Model<f32>, Made), Unreadable> {
    let broken = |error: SafeTensorError| Unreadable::Broken {
        reason: error.to_string(),
        bytes: bytes.len(),
    };
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(broken)?;
    let file = SafeTensors::deserialize(bytes).map_err(broken)?;
    let entry = header.metadata().as_ref().and_then(|entries| entries.get(NOTE));
    let note = Note(entry.map_or("", String::as_str));
    let version = note.field("version")?;
    if version != VERSION.to_string() {
        return Err(Unreadable::Version { found: version.to_owned() });
    }
    let made = note.made()?;
    let mut model = Model::zeros(SIZES);
    let mut written = Vec::with_capacity(SIZES.parameters() * 4);
    let names = Model::<f32>::zeros(SIZES);
    for ((name, _), mut weights) in names.tensors().iter().zip(model.tensors_mut()) {
        let data = data_of(&file, name, weights.shape())?;
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

/// The bytes of a matrix, known to have its shape.
fn data_of<'a>(
    file: &SafeTensors<'a>,
    name: &str,
    shape: &[usize],
) -> Result<&'a [u8], Unreadable> {
    let (tensor, expected) = (name.to_owned(), shape.to_vec());
    let Ok(view) = file.tensor(name) else {
        return Err(Unreadable::Missing { tensor, expected });
    };
    if view.dtype() != Dtype::F32 || view.shape() != shape {
        let (found, dtype) = (view.shape().to_vec(), format!("{:?}", view.dtype()));
        return Err(Unreadable::Shape { tensor, found, dtype, expected });
    }
    Ok(view.data())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    fn made() -> Made {
        Made { command: "make --it".to_owned(), seed: 9, steps: 12, loss: 1.25 }
    }

    fn model() -> Model<f32> {
        Model::random(SIZES, &mut Random::seeded(9))
    }

    fn file() -> Vec<u8> {
        to_bytes(&model(), &made()).unwrap()
    }

    /// What is said about bytes that are no weights.
    fn said(bytes: &[u8]) -> String {
        from_bytes(bytes).unwrap_err().to_string()
    }

    /// The file with a text replaced by another of the same length.
    fn replaced(from: &str, to: &str) -> Vec<u8> {
        assert_eq!(from.len(), to.len());
        let mut file = file();
        let at = file.windows(from.len()).position(|bytes| bytes == from.as_bytes()).unwrap();
        file[at..at + to.len()].copy_from_slice(to.as_bytes());
        file
    }

    #[test]
    fn weights_come_back_to_the_bit() {
        assert_eq!(from_bytes(&file()), Ok((model(), made())));
        assert_eq!(file(), file(), "the same bytes each time");
    }

    /// FNV-1a's published answer for “foobar”.
    #[test]
    fn the_sum_is_the_published_one() {
        assert_eq!(checksum(b"foobar".iter()), "85944171f73967e8");
    }

    #[test]
    fn a_file_cut_off_anywhere_is_refused() {
        let file = file();
        for length in (0..file.len()).step_by(499) {
            let said = said(&file[..length]);
            assert!(said.starts_with("this is no whole safetensors file ("), "{length}: {said}");
            assert!(said.ends_with(&format!("got {length} bytes in all")), "{said}");
        }
    }

    #[test]
    fn a_changed_byte_is_noticed_anywhere() {
        let whole = file();
        for place in (0..whole.len()).step_by(331) {
            for change in [0x01, 0x80] {
                let mut file = whole.clone();
                file[place] ^= change;
                match from_bytes(&file) {
                    Err(_) => {}
                    // In the note, a letter of the command may be another.
                    Ok((same, _)) => assert_eq!(same, model(), "{place}"),
                }
            }
        }
        let mut file = whole;
        *file.last_mut().unwrap() ^= 1;
        assert!(said(&file).starts_with("the weights were changed after they were made: "));
    }

    #[test]
    fn another_version_is_named() {
        assert_eq!(
            said(&replaced("version: 1", "version: 7")),
            "these are weights of version 7: expected version 1"
        );
    }

    #[test]
    fn files_of_something_else_are_refused() {
        assert_eq!(
            said(&replaced("{\"patterns\":", "{\"wallpapr\":")),
            "the file does not say how it was made: expected `version` in its entry `patterns`"
        );
        assert_eq!(
            said(&replaced("seed: 9", "seed: x")),
            "the file does not say how it was made: expected `seed` in its entry `patterns`"
        );
        assert_eq!(
            said(&replaced("layers.1.w_k", "layers.1.w_x")),
            "the weights `layers.1.w_k` are missing: expected them in the shape [64, 64]"
        );
        assert_eq!(
            said(&replaced("[44,64]", "[64,44]")),
            "`embedding` has shape [64, 44] of F32: expected [44, 64] of F32"
        );
    }

    #[test]
    fn a_nan_is_named() {
        let mut model = model();
        model.layers[1].w_v[[2, 3]] = f32::NAN;
        assert_eq!(
            said(&to_bytes(&model, &made()).unwrap()),
            "`layers.1.w_v` holds NaN at place 131: expected finite numbers alone"
        );
    }
}
