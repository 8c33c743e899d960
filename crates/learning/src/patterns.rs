//! Which head does what, found by scores, and what the model can do with some of
//! its heads switched off: all of it on texts that no training has seen.

use crate::grammar::{Agreement, Pairs, Text, repeats, sentences};
use crate::model::{Model, Pass};
use crate::training::{SIZES, Use, random};
use crate::vocabulary::verbs;
use crate::{Error, parallel};
use ndarray::Array2;

/// Texts to measure a model with, of a seed's numbers that training never draws.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Sentences like those of training.
    pub sentences: Vec<Text>,
    /// Sentences whose subjects meet only nouns held out from training.
    pub held_out: Vec<Text>,
    /// Words that repeat.
    pub repeats: Vec<Text>,
}

impl Sample {
    /// As many texts of each kind, each one word longer than the context.
    #[must_use]
    pub fn unseen(seed: u32, count: usize) -> Sample {
        let mut random = random(seed, Use::Unseen);
        let length = SIZES.context + 1;
        let mut many = |pairs| (0..count).map(|_| sentences(&mut random, pairs, length)).collect();
        let (trained, held_out) = (many(Pairs::Trained), many(Pairs::HeldOut));
        let repeated = |_| Text { words: repeats(&mut random, length), agreements: Vec::new() };
        Sample { sentences: trained, held_out, repeats: (0..count).map(repeated).collect() }
    }
}

/// What a head looks at, on average: each a share of its attention.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scores {
    /// From each token to the one before it.
    pub previous: f64,
    /// In words that repeat, from each word that was there before to those that
    /// followed it then.
    pub induction: f64,
    /// From the word that predicts a verb to the verb's subject, where every noun
    /// in between has the other number.
    pub subject: f64,
    /// From the same word to the nouns in between.
    pub distractors: f64,
}

/// The scores of every head of a model: `(layers, heads)`.
///
/// # Errors
///
/// Those of [`Model::pass`].
///
/// # Reference
///
/// Previous-token and induction score: Olsson et al., *In-context Learning and
/// Induction Heads* (2022), <https://arxiv.org/abs/2209.11895>. Subject and
/// distractors, in loss and not in attention: Linzen, Dupoux and Goldberg (2016),
/// <https://arxiv.org/abs/1611.01368>.
pub fn scores(model: &Model<f32>, sample: &Sample) -> Result<Array2<Scores>, Error> {
    let trained = passes(model, &sample.sentences, &[])?;
    let held_out = passes(model, &sample.held_out, &[])?;
    let repeats = passes(model, &sample.repeats, &[])?;
    let mut scores = Array2::default((model.layers.len(), model.heads));
    for ((layer, head), scores) in scores.indexed_iter_mut() {
        let mean = |texts: &[Read], of: fn(&Text, &Array2<f32>, &mut Vec<f64>)| {
            let mut shares = Vec::new();
            for (text, pass) in texts {
                of(text, &pass.weights(layer, head)?, &mut shares);
            }
            Ok::<f64, Error>(average(&shares))
        };
        *scores = Scores {
            previous: (mean(&trained, previous)? + mean(&repeats, previous)?) / 2.0,
            induction: mean(&repeats, induction)?,
            subject: mean(&held_out, subject)?,
            distractors: mean(&held_out, distractors)?,
        };
    }
    Ok(scores)
}

/// A text, and its way through a model.
type Read<'a> = (&'a Text, Pass<f32>);

/// Lets a model read many texts, each but for its last word.
fn passes<'a>(
    model: &Model<f32>,
    texts: &'a [Text],
    off: &[(usize, usize)],
) -> Result<Vec<Read<'a>>, Error> {
    let passes = parallel::map(texts, |text| model.pass(inputs(text), off));
    texts.iter().zip(passes).map(|(text, pass)| Ok((text, pass?))).collect()
}

/// The words that are read: all but the last, which is only predicted.
fn inputs(text: &Text) -> &[usize] {
    text.words.split_last().map_or(&[], |(_, inputs)| inputs)
}

fn previous(_: &Text, weights: &Array2<f32>, shares: &mut Vec<f64>) {
    shares.extend((1..weights.nrows()).map(|token| f64::from(weights[[token, token - 1]])));
}

fn induction(text: &Text, weights: &Array2<f32>, shares: &mut Vec<f64>) {
    for token in 1..weights.nrows() {
        let mut earlier = earlier(&text.words, token).peekable();
        if earlier.peek().is_some() {
            shares.push(earlier.map(|at| f64::from(weights[[token, at + 1]])).sum());
        }
    }
}

/// Where the word that stands here stood before.
fn earlier(words: &[usize], token: usize) -> impl Iterator<Item = usize> {
    (0..token).filter(move |&at| words[at] == words[token])
}

fn subject(text: &Text, weights: &Array2<f32>, shares: &mut Vec<f64>) {
    for agreement in misleading(text) {
        shares.push(weights[[agreement.verb - 1, agreement.subject]].into());
    }
}

fn distractors(text: &Text, weights: &Array2<f32>, shares: &mut Vec<f64>) {
    for agreement in misleading(text) {
        let to = |&noun: &usize| f64::from(weights[[agreement.verb - 1, noun]]);
        shares.push(agreement.distractors.iter().map(to).sum());
    }
}

/// The verbs that every noun before them but the subject would lead astray.
fn misleading(text: &Text) -> impl Iterator<Item = &Agreement> {
    text.agreements.iter().filter(|agreement| agreement.misleading)
}

fn average(shares: &[f64]) -> f64 {
    shares.iter().sum::<f64>() / shares.len() as f64
}

/// What a model can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Abilities {
    /// The mean loss on sentences like those of training.
    pub loss_on_sentences: f64,
    /// The mean loss on words that repeat, the first round included, which
    /// nobody could foresee.
    pub loss_on_repeats: f64,
    /// In words that repeat, how often the word that comes again is the likeliest.
    pub copying: f64,
    /// Where every noun in between has the other number, how often verbs of the
    /// right number are together likelier than those of the wrong one.
    pub agreement: f64,
}

impl Abilities {
    /// The loss on both kinds of text, as training sees it.
    #[must_use]
    pub fn loss(&self) -> f64 {
        (self.loss_on_sentences + self.loss_on_repeats) / 2.0
    }
}

/// What a model can do with some heads switched off: layer and head.
///
/// # Errors
///
/// Those of [`Model::pass`].
pub fn abilities(
    model: &Model<f32>,
    sample: &Sample,
    off: &[(usize, usize)],
) -> Result<Abilities, Error> {
    let trained = passes(model, &sample.sentences, off)?;
    let held_out = passes(model, &sample.held_out, off)?;
    let repeats = passes(model, &sample.repeats, off)?;
    let mean = |texts: &[Read], of: fn(&Text, &Pass<f32>, &mut Vec<f64>)| {
        let mut results = Vec::new();
        texts.iter().for_each(|(text, pass)| of(text, pass, &mut results));
        average(&results)
    };
    Ok(Abilities {
        loss_on_sentences: mean(&trained, losses),
        loss_on_repeats: mean(&repeats, losses),
        copying: mean(&repeats, copied),
        agreement: mean(&held_out, agreed),
    })
}

fn losses(text: &Text, pass: &Pass<f32>, results: &mut Vec<f64>) {
    results.extend(pass.losses(&text.words[1..]));
}

fn copied(text: &Text, pass: &Pass<f32>, results: &mut Vec<f64>) {
    for (token, scores) in pass.scores.outer_iter().enumerate() {
        let next = text.words[token + 1];
        if earlier(&text.words, token).any(|at| text.words[at + 1] == next) {
            let best = scores
                .iter()
                .enumerate()
                .all(|(word, &score)| word == next || score < scores[next]);
            results.push(f64::from(u8::from(best)));
        }
    }
}

fn agreed(text: &Text, pass: &Pass<f32>, results: &mut Vec<f64>) {
    let probabilities = pass.probabilities();
    for agreement in misleading(text) {
        let of = |number| {
            verbs(number).map(|verb| probabilities[[agreement.verb - 1, verb]]).sum::<f32>()
        };
        let right = of(agreement.number) > of(agreement.number.other());
        results.push(f64::from(u8::from(right)));
    }
}

/// The head with the highest score of a kind: layer and head.
#[must_use]
pub fn found(scores: &Array2<Scores>, kind: fn(&Scores) -> f64) -> (usize, usize) {
    let highest = |best: ((usize, usize), f64), (head, scores): ((usize, usize), &Scores)| {
        let score = kind(scores);
        if score > best.1 { (head, score) } else { best }
    };
    scores.indexed_iter().fold(((0, 0), f64::NEG_INFINITY), highest).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::Number;
    use ndarray::array;

    /// A map of four words, each share another number.
    fn map() -> Array2<f32> {
        array![
            [1.0, 0.0, 0.0, 0.0],
            [0.75, 0.25, 0.0, 0.0],
            [0.125, 0.375, 0.5, 0.0],
            [0.0625, 0.3125, 0.5, 0.125],
        ]
    }

    fn shares(of: fn(&Text, &Array2<f32>, &mut Vec<f64>), text: &Text) -> Vec<f64> {
        let mut shares = Vec::new();
        of(text, &map(), &mut shares);
        shares
    }

    #[test]
    fn previous_reads_just_below_the_diagonal() {
        assert_eq!(shares(previous, &Text::default()), [0.75, 0.375, 0.5]);
    }

    /// Words 7 3 7 7, and 3 to be predicted: the second 7 can look at what followed
    /// the first, and the third at what followed either.
    #[test]
    fn induction_reads_what_followed_any_earlier_occurrence() {
        let text = Text { words: vec![7, 3, 7, 7, 3], agreements: Vec::new() };
        assert_eq!(shares(induction, &text), [0.375, 0.3125 + 0.125]);
    }

    #[test]
    fn subject_reads_where_the_verb_is_predicted_and_only_if_nouns_mislead() {
        let agreement = |misleading| Agreement {
            subject: 1,
            distractors: vec![2, 3],
            verb: 4,
            number: Number::Plural,
            misleading,
        };
        let text = Text { words: Vec::new(), agreements: vec![agreement(true), agreement(false)] };
        assert_eq!(shares(subject, &text), [0.3125]);
        assert_eq!(shares(distractors, &text), [0.625]);
    }

    #[test]
    fn the_highest_score_is_found() {
        let with = |previous| Scores { previous, ..Scores::default() };
        let scores = array![[with(0.1), with(0.7)], [with(0.3), with(0.2)]];
        assert_eq!(found(&scores, |head| head.previous), (0, 1));
    }

    #[test]
    fn samples_of_different_seeds_have_different_texts() {
        let [one, other] = [1, 2].map(|seed| Sample::unseen(seed, 4));
        assert_ne!(one.sentences, other.sentences);
        assert_ne!(one.repeats, other.repeats);
        assert_eq!(one.held_out, Sample::unseen(1, 4).held_out);
    }
}
