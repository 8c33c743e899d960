//! The texts that the small transformer learns from, made by chance from a seed:
//! sentences in which a verb agrees with its subject across other nouns, and
//! words in no order that are said again and again.

use crate::Random;
use crate::vocabulary::{self, ADJECTIVES, ADVERBS, NOUNS, Number, PREPOSITIONS, STOP, THE};
use crate::vocabulary::{TRANSITIVE, VERBS, WORDS};
use std::ops::Range;

/// Which nouns may stand in the phrase between a subject and its verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// Those that meet this subject in training.
    Trained,
    /// Those that never do: they are held out, to ask what was really learned.
    HeldOut,
}

/// A verb, and the nouns that could have a say in its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// Where the subject stands, which the verb agrees with.
    pub subject: usize,
    /// Where the other nouns stand, between the subject and the verb.
    pub distractors: Vec<usize>,
    /// Where the verb stands. The word before it predicts it.
    pub verb: usize,
    /// The number of the subject, and so of the verb.
    pub number: Number,
    /// Whether every distractor has the other number.
    pub misleading: bool,
}

/// Sentences, one after the other, and where their verbs stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// The numbers of the words.
    pub words: Vec<usize>,
    /// The verbs that have distractors before them.
    pub agreements: Vec<Agreement>,
}

/// Whether a noun never stands in training between this subject and its verb.
#[must_use]
pub fn held_out(subject: usize, distractor: usize) -> bool {
    matches!((subject + NOUNS - distractor % NOUNS) % NOUNS, 2 | 5)
}

/// Sentences of the grammar, as many as fill a length; the last may be cut off.
///
/// `sentence → subject [phrase [phrase]] [adverb] verb [object] .` A phrase is a
/// preposition and a noun, an object a noun; each noun has “the” before it and
/// sometimes an adjective. The nouns of phrases have a number by chance: they are
/// distractors, for the verb agrees with the subject alone. With
/// [`Pairs::HeldOut`] each sentence has a phrase.
#[must_use]
pub fn sentences(random: &mut Random, pairs: Pairs, length: usize) -> Text {
    let mut text = Text { words: vec![STOP], agreements: Vec::new() };
    while text.words.len() < length {
        sentence(random, pairs, &mut text);
    }
    text.words.truncate(length);
    text.agreements.retain(|agreement| agreement.verb < length);
    text
}

/// Adds one sentence.
fn sentence(random: &mut Random, pairs: Pairs, text: &mut Text) {
    let (subject, number) = (random.below(NOUNS), any_number(random));
    let subject_at = noun_phrase(random, subject, number, text);
    let (mut distractors, mut misleading) = (Vec::new(), true);
    for _ in 0..phrases(random, pairs) {
        let noun = partner(random, pairs, subject);
        let its_number = any_number(random);
        misleading &= its_number != number;
        text.words.push(one_of(random, PREPOSITIONS));
        distractors.push(noun_phrase(random, noun, its_number, text));
    }
    if random.below(4) == 0 {
        text.words.push(one_of(random, ADVERBS));
    }
    let verb = random.below(VERBS);
    if !distractors.is_empty() {
        let verb = text.words.len();
        let agreement = Agreement { subject: subject_at, distractors, verb, number, misleading };
        text.agreements.push(agreement);
    }
    text.words.push(vocabulary::verb(verb, number));
    if verb < TRANSITIVE {
        let (object, number) = (random.below(NOUNS), any_number(random));
        noun_phrase(random, object, number, text);
    }
    text.words.push(STOP);
}

/// Adds “the”, perhaps an adjective, and a noun; gives where the noun stands.
fn noun_phrase(random: &mut Random, noun: usize, number: Number, text: &mut Text) -> usize {
    text.words.push(THE);
    if random.below(4) == 0 {
        text.words.push(one_of(random, ADJECTIVES));
    }
    text.words.push(vocabulary::noun(noun, number));
    text.words.len() - 1
}

/// How many phrases stand between a subject and its verb: none, one or two.
fn phrases(random: &mut Random, pairs: Pairs) -> usize {
    match (pairs, random.below(5)) {
        (Pairs::Trained, 0 | 1) => 0,
        (_, 0..=3) => 1,
        _ => 2,
    }
}

/// A noun for a phrase behind this subject.
fn partner(random: &mut Random, pairs: Pairs, subject: usize) -> usize {
    loop {
        let noun = random.below(NOUNS);
        if held_out(subject, noun) == (pairs == Pairs::HeldOut) {
            return noun;
        }
    }
}

fn any_number(random: &mut Random) -> Number {
    if random.below(2) == 0 { Number::Singular } else { Number::Plural }
}

fn one_of(random: &mut Random, words: Range<usize>) -> usize {
    words.start + random.below(words.len())
}

/// How many words are said before they are said again.
pub const PERIODS: Range<usize> = 4..16;

/// Words by chance, said again and again until they fill a length. What comes
/// next follows from nothing but what came last time; and as a word may stand in
/// several places of a round, the words before it matter too.
#[must_use]
pub fn repeats(random: &mut Random, length: usize) -> Vec<usize> {
    let period = one_of(random, PERIODS);
    let round: Vec<usize> = (0..period).map(|_| one_of(random, STOP + 1..WORDS.len())).collect();
    let again = round.iter().cycle().copied();
    std::iter::once(STOP).chain(again).take(length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::verbs;

    fn texts(pairs: Pairs) -> impl Iterator<Item = Text> {
        let mut random = Random::seeded(1);
        (0..300).map(move |_| sentences(&mut random, pairs, 33))
    }

    /// The noun that a word is a form of.
    fn lemma(word: usize) -> usize {
        let forms = [Number::Singular, Number::Plural];
        let is_form =
            |noun: &usize| forms.iter().any(|&form| vocabulary::noun(*noun, form) == word);
        (0..NOUNS).find(is_form).unwrap()
    }

    #[test]
    fn a_seed_gives_the_same_text_always() {
        let words = sentences(&mut Random::seeded(3), Pairs::Trained, 14).words;
        let words: Vec<_> = words.into_iter().map(|word| WORDS[word]).collect();
        assert_eq!(words.join(" "), ". the fox with the king runs . the kings wait . the old");
        let words = repeats(&mut Random::seeded(3), 14);
        let words: Vec<_> = words.into_iter().map(|word| WORDS[word]).collect();
        assert_eq!(
            words.join(" "),
            ". fox sleeps likes sleeps cat follow bird cat children likes sings cats always"
        );
    }

    #[test]
    fn verbs_agree_with_their_subject_whatever_stands_between() {
        let (mut misleading, mut all) = (0, 0);
        for text in texts(Pairs::Trained) {
            assert_eq!((text.words.len(), text.words[0]), (33, STOP));
            for agreement in text.agreements {
                let Agreement { subject, distractors, verb, number, .. } = agreement;
                assert!(verbs(number).contains(&text.words[verb]));
                let noun = lemma(text.words[subject]);
                assert_eq!(vocabulary::noun(noun, number), text.words[subject]);
                assert!(distractors.iter().all(|at| (subject + 3..verb).contains(at)));
                all += 1;
                misleading += usize::from(agreement.misleading);
            }
        }
        assert!(misleading > all / 3 && misleading < all / 2, "{misleading} of {all}");
    }

    #[test]
    fn held_out_pairs_never_stand_in_a_text_to_train_on() {
        for (pairs, expected) in [(Pairs::Trained, false), (Pairs::HeldOut, true)] {
            for text in texts(pairs) {
                for Agreement { subject, distractors, .. } in text.agreements {
                    for distractor in distractors {
                        let [subject, other] =
                            [subject, distractor].map(|at| lemma(text.words[at]));
                        assert_eq!(held_out(subject, other), expected);
                    }
                }
            }
        }
        let kept = (0..NOUNS * NOUNS).filter(|pair| held_out(pair / NOUNS, pair % NOUNS)).count();
        assert_eq!(kept, 16, "a quarter of all pairs");
    }

    #[test]
    fn repeats_come_again() {
        let mut random = Random::seeded(2);
        for _ in 0..200 {
            let words = repeats(&mut random, 33);
            let comes_again =
                |&period: &usize| (1 + period..33).all(|at| words[at] == words[at - period]);
            assert!(PERIODS.clone().any(|period| comes_again(&period)), "{words:?}");
            assert_eq!((words[0], words[1..].contains(&STOP)), (STOP, false));
        }
    }
}
