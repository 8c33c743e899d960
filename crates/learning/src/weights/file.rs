//! Weights as a file in the format safetensors. It makes bytes and reads them, and
//! opens no file.

use super::{Made, NOTE, Tensor, Unreadable, VERSION, checksum, from_tensors};
use crate::model::Model;
use ndarray::ArrayViewD;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensorError, SafeTensors};

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
    let note = header.metadata().as_ref().and_then(|entries| entries.get(NOTE));
    from_tensors(note.map_or("", String::as_str), |name| {
        let view = file.tensor(name).ok()?;
        let dtype = format!("{:?}", view.dtype());
        Some(Tensor { dtype, shape: view.shape().to_vec(), data: view.data() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::training::SIZES;

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
