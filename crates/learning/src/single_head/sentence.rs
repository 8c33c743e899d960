//! The sentences that a head learns from, put together by code: the words, the
//! questions that are asked about them, and their embeddings.

use super::{D_MODEL, TOKENS};
use crate::Random;
use attention::ndarray::Array2;

/// All words there are: determiners, adjectives, nouns, verbs and adverbs.
pub const WORDS: [&str; 12] =
    ["the", "a", "old", "small", "cat", "dog", "fox", "owl", "sat", "ran", "often", "softly"];

/// Where in [`WORDS`] each kind of word begins, and how many there are.
const DETERMINERS: Kind = Kind { first: 0, count: 2 };
const ADJECTIVES: Kind = Kind { first: 2, count: 2 };
const NOUNS: Kind = Kind { first: 4, count: 4 };
const VERBS: Kind = Kind { first: 8, count: 2 };
const ADVERBS: Kind = Kind { first: 10, count: 2 };

struct Kind {
    first: usize,
    count: usize,
}

/// What the head is to learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// To say the noun of the sentence, at each of the two words that follow it.
    Noun,
    /// To say the word before, at every position but the first.
    Previous,
}

/// What is asked at one position of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The position that must give the answer.
    pub at: usize,
    /// The position that holds it: the answer is the word that stands there.
    pub source: usize,
}

/// A sentence and what is asked about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    words: Vec<usize>,
    questions: Vec<Question>,
}

impl Sentence {
    /// The places of its tokens in [`WORDS`].
    #[must_use]
    pub fn tokens(&self) -> &[usize] {
        &self.words
    }

    /// Its words.
    #[must_use]
    pub fn words(&self) -> Vec<&'static str> {
        self.words.iter().map(|&word| WORDS[word]).collect()
    }

    /// What is asked about it.
    #[must_use]
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// The place in [`WORDS`] of the word that answers a question.
    pub(super) fn answer(&self, question: Question) -> usize {
        self.words[question.source]
    }

    /// `X`: in each row a 1 in the column of the word, and a 1 in that of the position.
    ///
    /// # Shapes
    ///
    /// `(T, d_model)`: [`WORDS`]`.len()` columns for the words, then [`TOKENS`]
    /// for the positions.
    #[must_use]
    pub fn embeddings(&self) -> Array2<f64> {
        let mut x = Array2::zeros((self.words.len(), D_MODEL));
        for (position, &word) in self.words.iter().enumerate() {
            x[[position, word]] = 1.0;
            x[[position, WORDS.len() + position]] = 1.0;
        }
        x
    }
}

/// A random sentence of a task.
pub fn draw(task: Task, random: &mut Random) -> Sentence {
    match task {
        Task::Noun => about_a_noun(random),
        Task::Previous => words_in_any_order(random),
    }
}

/// A determiner, up to two adjectives that differ, a noun; then a verb and an adverb, in
/// either order. At these two, the noun is asked for.
fn about_a_noun(random: &mut Random) -> Sentence {
    let mut words = vec![DETERMINERS.draw(random)];
    words.extend(ADJECTIVES.some_of(random));
    let source = words.len();
    words.push(NOUNS.draw(random));
    let (verb, adverb) = (VERBS.draw(random), ADVERBS.draw(random));
    words.extend(if random.below(2) == 0 { [verb, adverb] } else { [adverb, verb] });
    let questions = [source + 1, source + 2].map(|at| Question { at, source });
    Sentence { words, questions: questions.into() }
}

/// Words in any order, so that no word tells which one stood before it.
fn words_in_any_order(random: &mut Random) -> Sentence {
    let words = (0..TOKENS).map(|_| random.below(WORDS.len())).collect();
    let questions = (1..TOKENS).map(|at| Question { at, source: at - 1 }).collect();
    Sentence { words, questions }
}

impl Kind {
    fn draw(&self, random: &mut Random) -> usize {
        self.first + random.below(self.count)
    }

    /// None, one or more words of the kind, each once, from a random one onwards.
    fn some_of(&self, random: &mut Random) -> Vec<usize> {
        let (how_many, start) = (random.below(self.count + 1), random.below(self.count));
        (start..start + how_many).map(|word| self.first + word % self.count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noun_is_asked_for_at_both_words_after_it() {
        let mut random = Random::seeded(1);
        for _ in 0..200 {
            let sentence = draw(Task::Noun, &mut random);
            let (words, length) = (sentence.words(), sentence.tokens().len());
            assert!((4..=TOKENS).contains(&length), "{words:?}");
            let noun = length - 3;
            assert!(["cat", "dog", "fox", "owl"].contains(&words[noun]), "{words:?}");
            assert!(["the", "a"].contains(&words[0]), "{words:?}");
            assert!(words[1..noun].iter().all(|word| ["old", "small"].contains(word)), "{words:?}");
            assert!(noun < 3 || words[1] != words[2], "{words:?}");
            let after = [words[noun + 1], words[noun + 2]];
            let tells = |verbs: [&str; 2]| after.iter().any(|word| verbs.contains(word));
            assert!(tells(["sat", "ran"]) && tells(["often", "softly"]), "{words:?}");
            for (question, at) in sentence.questions().iter().zip([noun + 1, noun + 2]) {
                assert_eq!(*question, Question { at, source: noun });
                assert_eq!(WORDS[sentence.answer(*question)], words[noun]);
            }
        }
    }

    #[test]
    fn the_word_before_is_asked_for_everywhere_but_at_the_first() {
        let sentence = draw(Task::Previous, &mut Random::seeded(1));
        assert_eq!(sentence.tokens().len(), TOKENS);
        let asked: Vec<_> = sentence.questions().iter().map(|q| (q.at, q.source)).collect();
        assert_eq!(asked, [(1, 0), (2, 1), (3, 2), (4, 3), (5, 4)]);
    }

    #[test]
    fn an_embedding_says_the_word_and_the_position() {
        let sentence = Sentence { words: vec![11, 0], questions: Vec::new() };
        let x = sentence.embeddings();
        let ones: Vec<_> = x.indexed_iter().filter(|&(_, &entry)| entry == 1.0).collect();
        assert_eq!(x.dim(), (2, 18));
        assert_eq!(ones, [((0, 11), &1.0), ((0, 12), &1.0), ((1, 0), &1.0), ((1, 13), &1.0)]);
        assert_eq!(x.sum(), 4.0);
    }
}
