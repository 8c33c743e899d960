//! Chapter *Real attention patterns*: the small transformer whose weights are
//! kept, its parts and what it learned from. Which head does what, what happens
//! without it, what goes wrong and the exercises have files of their own.

pub mod ablation;
pub mod exercises;
pub mod found;
pub mod maps;
pub mod practice;

use std::sync::LazyLock;

use learning::Random;
use learning::grammar::{Pairs, held_out, repeats, sentences};
use learning::norm::normalise;
use learning::patterns::{Abilities, Sample, Scores, abilities, scores};
use learning::reader::Reader;
use learning::training::{BATCH, SIZES};
use learning::vocabulary::{NOUNS, WORDS};
use ledger::Ledger;
use ndarray::{Array2, array};

/// The kept weights, where the page finds them too.
pub const KEPT: &[u8] = include_bytes!("../../../book/src/widgets/patterns.safetensors");

/// The command that made them, as the chapter shows it.
const COMMAND: &str = "cargo run --release -p learning --example train -- --seed 2 --steps 3200";

/// Which texts the chapter measures with, and how many of each kind.
const UNSEEN: (u32, usize) = (2, 32);

/// Enters every value of the chapter.
pub fn enter(ledger: &mut Ledger) {
    enter_model(ledger);
    enter_data(ledger);
    enter_training(ledger);
    found::enter(ledger);
    maps::enter(ledger);
    ablation::enter(ledger);
    practice::enter(ledger);
    exercises::enter(ledger);
}

fn enter_model(ledger: &mut Ledger) {
    ledger.enter("patterns.weights", weights).about("how many weights the small transformer has");
    ledger.enter("patterns.words", words).about("how many words it knows");
    ledger.enter("patterns.context", context).about("how many words it can read at once");
    ledger.enter("patterns.width", width).about("how many numbers it keeps for each word");
    ledger.enter("patterns.layers", layers).about("how many layers it has");
    ledger.enter("patterns.heads", heads).about("how many heads each layer has");
    ledger.enter("patterns.head-size", head_size).about("how many numbers a query has");
    ledger
        .enter("patterns.norm", normalised)
        .rows(&["before", "after"])
        .about("four numbers, and the same divided by their root mean square");
}

fn enter_data(ledger: &mut Ledger) {
    ledger.enter("patterns.vocabulary", vocabulary).about("every word that it knows");
    ledger.enter("patterns.sentences", example_sentences).about("sentences like those it learned");
    ledger
        .enter("patterns.repeats", example_repeats)
        .about("words that repeat, as it learned them");
    ledger
        .enter("patterns.pairs.held-out", pairs_held_out)
        .about("how many pairs of a subject and a noun behind it were kept from training");
    ledger.enter("patterns.pairs", pairs).about("how many such pairs there are");
}

fn enter_training(ledger: &mut Ledger) {
    ledger
        .enter("patterns.command", command_is_as_told)
        .about("the command of the chapter is the one that the file tells");
    ledger.enter("patterns.steps", steps).about("how many steps made the kept weights");
    ledger.enter("patterns.batch", batch).about("how many texts there are in a batch");
    ledger.enter("patterns.kilobytes", kilobytes).about("how large the file is, in thousands");
    ledger
        .enter("patterns.loss.guess", loss_of_a_guess)
        .about("the loss of whoever finds all words equally likely: ln 44");
    ledger.enter("patterns.loss", loss).about("the loss on unseen texts of both kinds");
    ledger
        .enter("patterns.loss.sentences", loss_on_sentences)
        .about("the loss on unseen sentences");
    ledger.enter("patterns.loss.repeats", loss_on_repeats).about("the loss on unseen repeats");
    ledger
        .enter("patterns.loss.as.told", loss_is_as_told)
        .about("the loss is the one that the file tells, to 0.05");
    ledger
        .enter("patterns.unseen", texts_measured)
        .about("how many texts of each kind the chapter measures with");
}

/// The trained model.
///
/// # Errors
///
/// Why the kept file is no file of weights.
pub fn reader() -> Result<&'static Reader, String> {
    static READER: LazyLock<Result<Reader, String>> =
        LazyLock::new(|| Reader::from_bytes(KEPT).map_err(|error| error.to_string()));
    READER.as_ref().map_err(Clone::clone)
}

/// What was measured of the model: every head's scores, and what the model can do
/// with all heads and without each of them.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The scores, by layer and head.
    pub scores: Array2<Scores>,
    /// What it can do.
    pub all: Abilities,
    /// What it can do without a head, by layer and head.
    pub without: Array2<Abilities>,
}

/// The measurements of the chapter, made once.
///
/// # Errors
///
/// Those of [`reader`].
pub fn measured() -> Result<&'static Measured, String> {
    static MEASURED: LazyLock<Result<Measured, String>> = LazyLock::new(|| measure(&sample()));
    MEASURED.as_ref().map_err(Clone::clone)
}

/// The texts that the chapter measures with.
#[must_use]
pub fn sample() -> Sample {
    Sample::unseen(UNSEEN.0, UNSEEN.1)
}

/// Measures everything on a sample.
fn measure(sample: &Sample) -> Result<Measured, String> {
    let model = reader()?.model();
    let scores = scores(model, sample).map_err(|error| error.to_string())?;
    let without =
        |off: &[(usize, usize)]| abilities(model, sample, off).map_err(|error| error.to_string());
    let all = without(&[])?;
    let mut each = Array2::from_elem(scores.dim(), all);
    for (head, abilities) in each.indexed_iter_mut() {
        *abilities = without(&[head])?;
    }
    Ok(Measured { scores, all, without: each })
}

/// How many weights the model has.
#[must_use]
pub fn weights() -> usize {
    SIZES.parameters()
}

/// How many words it knows.
#[must_use]
pub fn words() -> usize {
    SIZES.words
}

/// How many words it can read at once.
#[must_use]
pub fn context() -> usize {
    SIZES.context
}

/// How many numbers it keeps for each word.
#[must_use]
pub fn width() -> usize {
    SIZES.width
}

/// How many layers it has.
#[must_use]
pub fn layers() -> usize {
    SIZES.layers
}

/// How many heads each layer has.
#[must_use]
pub fn heads() -> usize {
    SIZES.heads
}

/// How many numbers a query has.
#[must_use]
pub fn head_size() -> usize {
    SIZES.head_size
}

/// Four numbers whose root mean square is 5, and the same divided by it.
#[must_use]
pub fn normalised() -> Array2<f64> {
    let before = array![[1.0, -7.0, 5.0, 5.0]];
    let after = normalise(&before, &ndarray::Array1::ones(4)).output;
    ndarray::concatenate![ndarray::Axis(0), before, after]
}

/// Every word that the model knows.
#[must_use]
pub fn vocabulary() -> String {
    WORDS.join(" ")
}

/// The words of some numbers, the first full stop left out.
fn spelled(numbers: &[usize]) -> String {
    let words: Vec<&str> = numbers.iter().skip(1).map(|&number| WORDS[number]).collect();
    words.join(" ")
}

/// Sentences like those of training: the first of seed 1.
#[must_use]
pub fn example_sentences() -> String {
    spelled(&sentences(&mut Random::seeded(1), Pairs::Trained, SIZES.context + 1).words)
}

/// Words that repeat, as in training: the first of seed 1.
#[must_use]
pub fn example_repeats() -> String {
    spelled(&repeats(&mut Random::seeded(1), SIZES.context + 1))
}

/// How many pairs of a subject and a noun behind it are kept from training.
#[must_use]
pub fn pairs_held_out() -> usize {
    (0..pairs()).filter(|pair| held_out(pair / NOUNS, pair % NOUNS)).count()
}

/// How many pairs of a subject and a noun behind it there are.
#[must_use]
pub fn pairs() -> usize {
    NOUNS * NOUNS
}

/// The command of the chapter is the one that the file tells.
///
/// # Errors
///
/// The one that it tells, if it is another.
pub fn command_is_as_told() -> Result<(), String> {
    let told = &reader()?.made().command;
    if told == COMMAND { Ok(()) } else { Err(format!("the file tells `{told}`")) }
}

/// How many steps made the kept weights.
///
/// # Errors
///
/// Those of [`reader`].
pub fn steps() -> Result<usize, String> {
    Ok(reader()?.made().steps)
}

/// How many texts there are in a batch.
#[must_use]
pub fn batch() -> usize {
    BATCH
}

/// How large the kept file is, in thousands of bytes, rounded up.
#[must_use]
pub fn kilobytes() -> usize {
    KEPT.len().div_ceil(1000)
}

/// The loss of whoever finds all words equally likely: the logarithm of their number.
#[must_use]
pub fn loss_of_a_guess() -> f64 {
    (SIZES.words as f64).ln()
}

/// The loss on unseen texts of both kinds.
///
/// # Errors
///
/// Those of [`reader`].
pub fn loss() -> Result<f64, String> {
    Ok(measured()?.all.loss())
}

/// The loss on unseen sentences.
///
/// # Errors
///
/// Those of [`reader`].
pub fn loss_on_sentences() -> Result<f64, String> {
    Ok(measured()?.all.loss_on_sentences)
}

/// The loss on unseen words that repeat.
///
/// # Errors
///
/// Those of [`reader`].
pub fn loss_on_repeats() -> Result<f64, String> {
    Ok(measured()?.all.loss_on_repeats)
}

/// [`near`]: the loss measured here is the one that the file tells, which was
/// measured on other texts.
///
/// # Errors
///
/// Both, if they are apart.
pub fn loss_is_as_told() -> Result<(), String> {
    near(loss()?, reader()?.made().loss)
}

/// Two losses are at most 0.05 apart.
///
/// # Errors
///
/// Both, if they are apart.
pub fn near(here: f64, told: f64) -> Result<(), String> {
    if (here - told).abs() < 0.05 { Ok(()) } else { Err(format!("{here} is not {told}")) }
}

/// How many texts of each kind the chapter measures with.
#[must_use]
pub fn texts_measured() -> usize {
    UNSEEN.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_that_are_apart_are_told() {
        assert!(near(1.4, 1.5).is_err());
    }

    /// By hand: 44 and 32 rows and 44 columns of 64, 64 gains, and two layers of
    /// four matrices of 64 by 64 and 64 gains.
    #[test]
    fn the_weights_are_as_many_as_counted_by_hand() {
        assert_eq!(weights(), 2816 + 2048 + 2816 + 64 + 2 * (4 * 4096 + 64));
    }
}
