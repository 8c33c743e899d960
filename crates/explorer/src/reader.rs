//! The trained transformer, asked by a page: where each head looks in a sentence,
//! which word comes next, and how that changes with heads switched off. It keeps
//! the weights that the page has fetched; `learning` does the rest.

mod file;
#[cfg(feature = "worked")]
pub(crate) mod page;

use crate::json::{Json, Unreadable, Value, object};
use crate::written::shown;
use attention::ndarray::{Array2, ArrayView1};
use learning::reader::{ReadError, Reader, Reading};
use learning::vocabulary::{Number, WORDS, verbs};
use std::cell::RefCell;

thread_local! {
    static READER: RefCell<Option<Reader>> = const { RefCell::new(None) };
}

/// How many of the likeliest next words are told.
const LIKELIEST: usize = 6;

/// Keeps the weights of a file, to read with.
///
/// # Errors
///
/// Why the bytes are no weights, as a sentence; those from before stay.
pub(crate) fn keep(bytes: &[u8]) -> Result<Kept, Unreadable> {
    let reader = file::open(bytes).map_err(|error| sentence(&error.to_string()))?;
    let heads = reader.model().heads;
    READER.set(Some(reader));
    Ok(Kept { heads })
}

/// What is said once weights are there.
pub(crate) struct Kept {
    heads: usize,
}

object!(Kept { heads });

/// Answers `{"ask": "read", "words": "the cats", "off": [[1, 0]]}`.
///
/// # Errors
///
/// If the request is not of this kind, or no weights are there yet.
pub(crate) fn answer(request: &Value) -> Result<ReadAnswer, Unreadable> {
    let (words, off) = (request.text("words")?, heads(request)?);
    READER.with_borrow(|reader| match reader {
        Some(reader) => Ok(read(reader, words, &off)),
        None => Err("The weights of the model have not been loaded.".to_owned()),
    })
}

/// The heads that are switched off: pairs of layer and head.
fn heads(request: &Value) -> Result<Vec<(usize, usize)>, Unreadable> {
    let wrong = || "`off` is not a list of pairs of layer and head.".to_owned();
    let Some(Value::List(pairs)) = request.get("off") else { return Err(wrong()) };
    let pair = |pair: &Value| {
        let Value::List(pair) = pair else { return None };
        let [Value::Number(layer), Value::Number(head)] = pair.as_slice() else { return None };
        Some((index(*layer)?, index(*head)?))
    };
    pairs.iter().map(|element| pair(element).ok_or_else(wrong)).collect()
}

/// A number that counts.
fn index(number: f64) -> Option<usize> {
    let index = number as usize;
    (index as f64 == number).then_some(index)
}

/// What a reader is shown of a sentence, or what is wrong with it.
pub(crate) fn read(reader: &Reader, words: &str, off: &[(usize, usize)]) -> ReadAnswer {
    let readings = reader.read(words, &[]).and_then(|all| Ok((all, reader.read(words, off)?)));
    match readings {
        Ok((all, now)) => ReadAnswer {
            reading: Some(Shown::new(&all, (!off.is_empty()).then_some(&now))),
            problem: None,
        },
        Err(error) => ReadAnswer { reading: None, problem: Some(Problem::new(words, &error)) },
    }
}

/// The answer: one of the two.
pub(crate) struct ReadAnswer {
    reading: Option<Shown>,
    problem: Option<Problem>,
}

object!(ReadAnswer { reading, problem });

/// Why a sentence cannot be read.
struct Problem {
    sentence: String,
    /// A word that could be meant, and the whole sentence with it.
    suggestion: Option<&'static str>,
    mended: Option<String>,
}

object!(Problem { sentence, suggestion, mended });

impl Problem {
    fn new(words: &str, error: &ReadError) -> Problem {
        let ReadError::Unknown(unknown) = error else {
            return Problem {
                sentence: sentence(&error.to_string()),
                suggestion: None,
                mended: None,
            };
        };
        let mut mended: Vec<&str> = learning::vocabulary::apart(words).collect();
        if let Some(word) = mended.get_mut(unknown.place) {
            *word = unknown.suggestion;
        }
        Problem {
            sentence: format!("The model does not know the word “{}”.", unknown.word),
            suggestion: Some(unknown.suggestion),
            mended: Some(mended.join(" ")),
        }
    }
}

/// An error as a sentence.
fn sentence(error: &str) -> String {
    let mut letters = error.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}

/// Everything about a sentence that is shown.
pub(crate) struct Shown {
    words: Vec<&'static str>,
    /// By layer, head, word that looks and word looked at.
    maps: Vec<Vec<Vec<Vec<Share>>>>,
    /// At each word, what comes next with all heads.
    before: Vec<Next>,
    /// The same with the heads that are still on.
    after: Option<Vec<Next>>,
    /// What comes after the last word, for those who do not see it.
    spoken: String,
}

object!(Shown { words, maps, before, after, spoken });

impl Shown {
    pub(super) fn new(all: &Reading, now: Option<&Reading>) -> Shown {
        let layers = now.unwrap_or(all).maps.iter();
        let (before, after) = (next(&all.next), now.map(|now| next(&now.next)));
        Shown {
            words: all.words.clone(),
            maps: layers.map(|heads| heads.iter().map(shares).collect()).collect(),
            spoken: spoken(&all.words, &before, after.as_deref()),
            before,
            after,
        }
    }
}

/// What comes after the last word, in sentences.
fn spoken(words: &[&str], before: &[Next], after: Option<&[Next]>) -> String {
    let likeliest = |next: &[Next]| {
        let most = next.last().and_then(|next| next.likeliest.first());
        most.map_or_else(String::new, |most| {
            format!("“{}” with {}", most.word, shown(most.chance.0.into(), 2))
        })
    };
    let last = words.last().copied().unwrap_or_default();
    let all = format!("After “{last}” most likely comes {}.", likeliest(before));
    match after {
        Some(after) => format!("{all} Without the heads switched off: {}.", likeliest(after)),
        None => all,
    }
}

/// Each row of a map, up to the word itself: what lies behind it is closed.
fn shares(map: &Array2<f32>) -> Vec<Vec<Share>> {
    let rows = map.outer_iter().enumerate();
    rows.map(|(word, row)| row.iter().take(word + 1).map(|&weight| Share(weight)).collect())
        .collect()
}

/// A share of a whole, from 0 to 1: what is shown of it, and a length for drawing.
struct Share(f32);

impl Json for Share {
    fn write(&self, text: &mut String) {
        let exact = f64::from(self.0);
        crate::json::write::members(
            text,
            &[("shown", &shown(exact, 2)), ("share", &rounded(exact))],
        );
    }
}

/// A share in thousandths: nobody sees more of a length or a shade.
fn rounded(share: f64) -> f64 {
    (share * 1000.0).round() / 1000.0
}

/// What comes next at one word.
struct Next {
    likeliest: Vec<Chance>,
    /// The probability of all verbs for one, and of all for many.
    verb_for_one: Share,
    verb_for_many: Share,
}

object!(Next { likeliest, verb_for_one, verb_for_many });

/// A word and its probability.
struct Chance {
    word: &'static str,
    chance: Share,
}

object!(Chance { word, chance });

fn next(probabilities: &Array2<f32>) -> Vec<Next> {
    let at_word = |row: ArrayView1<f32>| {
        let of = |number| Share(verbs(number).map(|verb| row[verb]).sum());
        Next {
            likeliest: likeliest(&row),
            verb_for_one: of(Number::Singular),
            verb_for_many: of(Number::Plural),
        }
    };
    probabilities.outer_iter().map(at_word).collect()
}

/// The likeliest words, the likeliest first.
fn likeliest(row: &ArrayView1<f32>) -> Vec<Chance> {
    let mut told: Vec<usize> = Vec::with_capacity(LIKELIEST);
    while told.len() < LIKELIEST.min(row.len()) {
        let left = (0..row.len()).filter(|word| !told.contains(word));
        told.extend(left.reduce(|best, word| if row[word] > row[best] { word } else { best }));
    }
    told.into_iter().map(|word| Chance { word: WORDS[word], chance: Share(row[word]) }).collect()
}
