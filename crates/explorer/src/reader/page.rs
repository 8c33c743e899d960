//! The data that stands in a page beside `<pattern-reader>`, computed where the
//! page is built.

use super::Shown;
use crate::json::{object, written};
use crate::presets::owned;
use learning::vocabulary::WORDS;
use worked::real_attention_patterns as chapter;
use worked::real_attention_patterns::found::{INDUCTION, PREVIOUS, SUBJECT, best};

/// Sentences to begin with: a noun that misleads, and the same turned round;
/// words that come again; a long way to the verb; and two sentences in one text.
const SENTENCES: [&str; 5] = [
    "the birds near the old cat",
    "the bird near the old cats",
    "king often old dogs king often old",
    "the child with the foxes beside the boys never",
    "the young girls sing . the dog behind the kings",
];

/// A few sentences, and of the first everything that is shown, as JSON.
///
/// # Errors
///
/// Why the kept weights or the first sentence cannot be read.
pub(crate) fn data() -> Result<String, String> {
    let first = chapter::reader()?.read(SENTENCES[0], &[]).map_err(|error| error.to_string())?;
    let mut names = vec![vec![String::new(); chapter::heads()]; chapter::layers()];
    for (name, pattern) in
        [("previous token", PREVIOUS), ("induction", INDUCTION), ("subject", SUBJECT)]
    {
        let (layer, head) = best(pattern)?;
        names[layer][head] = name.to_owned();
    }
    let (layer, head) = best(SUBJECT)?;
    Ok(written(&ReaderData {
        sentences: owned(&SENTENCES),
        reading: Shown::new(&first, None),
        head: vec![layer, head],
        names,
        vocabulary: owned(&WORDS),
    }))
}

struct ReaderData {
    sentences: Vec<String>,
    reading: Shown,
    head: Vec<usize>,
    names: Vec<Vec<String>>,
    vocabulary: Vec<String>,
}

object!(ReaderData { sentences, reading, head, names, vocabulary });
