//! A sentence as a reader types it, read by the trained model: where each head
//! looks, and which word the model expects next. It computes and does not show.

use crate::Error;
use crate::model::Model;
use crate::vocabulary::{STOP, UnknownWord, WORDS, numbers};
use crate::weights::Made;
#[cfg(feature = "safetensors")]
use crate::weights::{Unreadable, from_bytes};
use ndarray::Array2;

/// The trained model, ready to read.
#[derive(Clone, Debug, PartialEq)]
pub struct Reader {
    model: Model<f32>,
    made: Made,
}

/// What the model made of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The words that were read, a full stop first: T of them.
    pub words: Vec<&'static str>,
    /// Where each head looked, by layer and head: `(T, T)` each.
    pub maps: Vec<Vec<Array2<f32>>>,
    /// At each word, the probability of each word of the vocabulary to come next:
    /// `(T, words)`.
    pub next: Array2<f32>,
}

/// Why a sentence could not be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is nothing to read.
    #[error("there is no word to read")]
    Empty,
    /// More words than the model has positions for.
    #[error("{words} words are too many: the model reads {most} at most, full stops included")]
    TooLong {
        /// How many there are.
        words: usize,
        /// How many there may be.
        most: usize,
    },
    /// A word that the model does not know.
    #[error(transparent)]
    Unknown(#[from] UnknownWord),
    /// What the model found wrong.
    #[error(transparent)]
    Model(Error),
}

impl Reader {
    /// A model that was read, and how it was made.
    #[must_use]
    pub fn new(model: Model<f32>, made: Made) -> Reader {
        Reader { model, made }
    }

    /// The model of a file.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] if the bytes are no weights of this model.
    #[cfg(feature = "safetensors")]
    pub fn from_bytes(bytes: &[u8]) -> Result<Reader, Unreadable> {
        let (model, made) = from_bytes(bytes)?;
        Ok(Reader { model, made })
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model<f32> {
        &self.model
    }

    /// How its weights were made.
    #[must_use]
    pub fn made(&self) -> &Made {
        &self.made
    }

    /// Reads a sentence, with some heads switched off: layer and head, each
    /// counted from 0. Where no full stop stands before it one is put there, for the
    /// model has learned from no sentence without.
    ///
    /// # Errors
    ///
    /// [`ReadError`] for a sentence that is empty, too long or has unknown words,
    /// and for a head that is not there.
    pub fn read(&self, sentence: &str, off: &[(usize, usize)]) -> Result<Reading, ReadError> {
        let tokens = self.tokens(sentence)?;
        let pass = self.model.pass_by_recipe(&tokens, off).map_err(ReadError::Model)?;
        let maps_of = |layer| {
            (0..self.model.heads).map(|head| pass.weights(layer, head)).collect::<Result<_, _>>()
        };
        let maps: Result<_, Error> = (0..self.model.layers.len()).map(maps_of).collect();
        Ok(Reading {
            words: tokens.iter().map(|&word| WORDS[word]).collect(),
            maps: maps.map_err(ReadError::Model)?,
            next: pass.probabilities(),
        })
    }

    /// The words of a sentence as numbers, with the full stop before the first.
    fn tokens(&self, sentence: &str) -> Result<Vec<usize>, ReadError> {
        let mut words = numbers(sentence)?;
        if words.iter().all(|&word| word == STOP) {
            return Err(ReadError::Empty);
        }
        if words[0] != STOP {
            words.insert(0, STOP);
        }
        let most = self.model.positions.nrows();
        if words.len() > most {
            return Err(ReadError::TooLong { words: words.len() - 1, most: most - 1 });
        }
        Ok(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::training::SIZES;

    fn reader() -> Reader {
        let model = Model::random(SIZES, &mut Random::seeded(4));
        let made = Made { command: String::new(), seed: 4, steps: 0, loss: 0.0 };
        Reader { model, made }
    }

    #[test]
    fn a_reading_has_every_map_and_every_probability() {
        let reading = reader().read("The cats near the dog", &[(1, 2)]).unwrap();
        assert_eq!(reading.words, [".", "the", "cats", "near", "the", "dog"]);
        assert_eq!((reading.maps.len(), reading.maps[1].len()), (2, 4));
        for map in reading.maps.iter().flatten() {
            assert!(map.outer_iter().all(|row| (row.sum() - 1.0).abs() < 1e-5), "rows sum to 1");
            assert!(map.indexed_iter().all(|((from, to), &weight)| to <= from || weight == 0.0));
        }
        assert_eq!(reading.next.dim(), (6, 44));
        assert!((reading.next.row(5).sum() - 1.0).abs() < 1e-5);
    }

    #[test]
    fn a_head_switched_off_changes_what_comes_next_and_not_the_first_maps() {
        let reader = reader();
        let [on, off] = [&[][..], &[(0, 1)]].map(|off| reader.read("the cats", off).unwrap());
        assert_eq!(on.maps[0], off.maps[0]);
        assert_ne!(on.next, off.next);
    }

    #[test]
    fn one_full_stop_stands_before_the_first_word() {
        let reader = reader();
        assert_eq!(reader.read("the cats", &[]), reader.read(".the cats", &[]));
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let read = |sentence: &str| reader().read(sentence, &[]).unwrap_err();
        for nothing in ["", " \n", ". ."] {
            assert_eq!(read(nothing), ReadError::Empty);
        }
        assert!(reader().read(&"cat ".repeat(31), &[]).is_ok());
        assert!(reader().read(&format!(". {}", "cat ".repeat(31)), &[]).is_ok());
        assert_eq!(
            read(&"cat ".repeat(32)).to_string(),
            "32 words are too many: the model reads 31 at most, full stops included"
        );
        assert_eq!(
            read("the cat sleeped").to_string(),
            "the model does not know the word “sleeped”; the nearest that it knows is “sleeps”"
        );
        let error = reader().read("the", &[(2, 0)]).unwrap_err();
        assert_eq!(error.to_string(), "there is no head 0 in layer 2, each counted from 0");
    }
}
