//! The words that the small transformer knows, each with a number of its own.
//! What may follow what is the matter of `grammar`, not of this list.

use std::ops::Range;

/// The words, in the order of their numbers.
pub const WORDS: [&str; 44] = [
    ".", "the", "old", "young", "small", "happy", "near", "behind", "beside", "with", "often",
    "never", "always", "still", "cat", "dog", "bird", "girl", "boy", "king", "fox", "child",
    "cats", "dogs", "birds", "girls", "boys", "kings", "foxes", "children", "sees", "likes",
    "follows", "sleeps", "runs", "sings", "waits", "see", "like", "follow", "sleep", "run", "sing",
    "wait",
];

/// The full stop: it ends a sentence, and stands before the first one.
pub const STOP: usize = 0;
/// The article.
pub const THE: usize = 1;
/// The words that may stand before a noun.
pub const ADJECTIVES: Range<usize> = 2..6;
/// The words that tie a second noun to the first.
pub const PREPOSITIONS: Range<usize> = 6..10;
/// The words that may stand before a verb.
pub const ADVERBS: Range<usize> = 10..14;
/// How many nouns there are, each in singular and plural.
pub const NOUNS: usize = 8;
/// How many verbs there are, each in singular and plural.
pub const VERBS: usize = 7;
/// How many of the verbs take an object; they come first.
pub const TRANSITIVE: usize = 3;

const NOUNS_FROM: usize = 14;
const VERBS_FROM: usize = 30;

/// One or many: what a verb takes from its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// One: the cat sleeps.
    Singular,
    /// Many: the cats sleep.
    Plural,
}

impl Number {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Number {
        match self {
            Number::Singular => Number::Plural,
            Number::Plural => Number::Singular,
        }
    }
}

/// The word for a noun, counted from 0 to [`NOUNS`], in a number.
#[must_use]
pub fn noun(noun: usize, number: Number) -> usize {
    form(NOUNS_FROM, NOUNS, noun, number)
}

/// The word for a verb, counted from 0 to [`VERBS`], in a number.
#[must_use]
pub fn verb(verb: usize, number: Number) -> usize {
    form(VERBS_FROM, VERBS, verb, number)
}

/// All words for verbs in a number.
#[must_use]
pub fn verbs(number: Number) -> Range<usize> {
    let first = verb(0, number);
    first..first + VERBS
}

/// The singulars come first, then the plurals in the same order.
fn form(from: usize, count: usize, which: usize, number: Number) -> usize {
    match number {
        Number::Singular => from + which % count,
        Number::Plural => from + count + which % count,
    }
}

/// A word that the model does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the model does not know the word “{word}”; the nearest that it knows is “{suggestion}”")]
pub struct UnknownWord {
    /// Which word of the sentence it is, counted from 0.
    pub place: usize,
    /// The word, as it was typed.
    pub word: String,
    /// The known word that is spelt most like it.
    pub suggestion: &'static str,
}

/// The numbers of the words of a sentence.
///
/// Words are separated by spaces; a full stop need not be. Capitals do not matter.
///
/// ```
/// use learning::vocabulary::{WORDS, numbers};
///
/// let sentence = numbers("The old cats sleep.")?;
/// assert_eq!(sentence.iter().map(|&word| WORDS[word]).collect::<Vec<_>>(),
///     ["the", "old", "cats", "sleep", "."]);
///
/// let unknown = numbers("the catz sleep").unwrap_err();
/// assert_eq!((unknown.place, unknown.suggestion), (1, "cats"));
/// # Ok::<(), learning::vocabulary::UnknownWord>(())
/// ```
///
/// # Errors
///
/// [`UnknownWord`] for the first word that is not in [`WORDS`].
pub fn numbers(sentence: &str) -> Result<Vec<usize>, UnknownWord> {
    apart(sentence).enumerate().map(|(place, word)| number_of(place, word)).collect()
}

/// The words of a sentence, and its full stops.
pub fn apart(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split_whitespace().flat_map(|piece| piece.split_inclusive('.')).flat_map(|piece| {
        let (word, stop) = piece.split_at(piece.len() - usize::from(piece.ends_with('.')));
        [word, stop].into_iter().filter(|part| !part.is_empty())
    })
}

/// The number of one word.
fn number_of(place: usize, word: &str) -> Result<usize, UnknownWord> {
    let lower = word.to_lowercase();
    WORDS.iter().position(|&known| known == lower).ok_or_else(|| UnknownWord {
        place,
        word: word.to_owned(),
        suggestion: nearest(&lower),
    })
}

/// The known word that is fewest changes of a letter away; of several, one that
/// begins alike and is as long.
fn nearest(word: &str) -> &'static str {
    let distance = |known: &str| {
        let alike = known.chars().zip(word.chars()).take_while(|(a, b)| a == b).count();
        let longer = known.chars().count().abs_diff(word.chars().count());
        (strsim::osa_distance(known, word), usize::MAX - alike, longer)
    };
    WORDS.into_iter().skip(1).min_by_key(|known| distance(known)).unwrap_or(WORDS[THE])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_stands_twice() {
        for (number, word) in WORDS.iter().enumerate() {
            assert_eq!(WORDS.iter().position(|other| other == word), Some(number), "{word}");
        }
    }

    #[test]
    fn forms_are_where_they_belong() {
        let word = |number| WORDS[number];
        assert_eq!(word(noun(0, Number::Singular)), "cat");
        assert_eq!(word(noun(NOUNS - 1, Number::Plural)), "children");
        assert_eq!(word(verb(TRANSITIVE, Number::Singular)), "sleeps");
        assert_eq!(word(verb(VERBS - 1, Number::Plural)), "wait");
        assert_eq!(verbs(Number::Plural).end, WORDS.len());
        assert_eq!(WORDS[ADJECTIVES], ["old", "young", "small", "happy"]);
        assert_eq!(WORDS[PREPOSITIONS], ["near", "behind", "beside", "with"]);
        assert_eq!(WORDS[ADVERBS], ["often", "never", "always", "still"]);
    }

    #[test]
    fn an_unknown_word_gets_the_nearest_known() {
        for (typed, nearest) in [
            ("kat", "cat"),
            ("dogz", "dogs"),
            ("childs", "child"),
            ("slept", "sleep"),
            ("Ofen", "often"),
        ] {
            let error = numbers(&format!("the {typed}")).unwrap_err();
            assert_eq!((error.place, error.suggestion), (1, nearest), "{error}");
            assert!(error.to_string().contains(typed), "{error}");
        }
        assert_eq!(numbers(" ").unwrap(), [] as [usize; 0]);
        assert!(numbers("\u{1f98a}").is_err());
    }
}
