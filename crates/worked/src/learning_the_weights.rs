//! Chapter *Learning the weights*: one head that starts random and learns, by
//! `learning::single_head`. What is learned and how it is asked is here; the loss,
//! the course of the training, what it found, and what goes wrong have files of
//! their own.

pub mod course;
pub mod exercises;
pub mod found;
pub mod loss;
pub mod practice;
pub mod rates;
pub mod runs;
pub mod seeds;
pub mod toy;

use learning::single_head::{
    BATCH, D, D_MODEL, EXAM, EXPLODED, LONGEST, PASSED, SPREAD, STAYED, Sentence, TOKENS, WORDS,
};
use ledger::Ledger;
use ndarray::Array2;

use runs::{Error, Lesson, Noun, Previous};

/// The seed and the learning rate of the text.
pub const SEED: u64 = 7;
/// See [`SEED`].
pub const RATE: f64 = 1.0;
/// What the positions are called.
pub const POSITIONS: [&str; TOKENS] = ["1st", "2nd", "3rd", "4th", "5th", "6th"];

/// Enters every value of the chapter.
pub fn enter(ledger: &mut Ledger) {
    enter_sizes(ledger);
    enter_sentences(ledger);
    loss::enter(ledger);
    course::enter(ledger);
    found::enter(ledger);
    seeds::enter(ledger);
    rates::enter(ledger);
    toy::enter(ledger);
    practice::enter(ledger);
    exercises::enter(ledger);
}

fn enter_sizes(ledger: &mut Ledger) {
    ledger.enter("learn.words", words).about("how many words there are");
    ledger.enter("learn.positions", positions).about("how many positions a sentence may have");
    ledger.enter("learn.model-width", model_width).about("the numbers in an embedding");
    ledger.enter("learn.head-size", head_size).about("the numbers in a query or a key");
    ledger.enter("learn.weights", weights).about("how many numbers the head learns");
    ledger
        .enter("learn.spread", spread)
        .digits(1)
        .about("the typical size of a weight at the start");
    ledger.enter("learn.seed", seed).about("the seed of the runs in the text");
    ledger.enter("learn.rate", rate).digits(0).about("the learning rate of the runs in the text");
    ledger.enter("learn.batch", batch).about("how many sentences each step learns from");
    ledger.enter("learn.exam", exam).about("how many sentences the head is examined with");
    ledger.enter("learn.passed", passed).about("the loss below which a task counts as learned");
    ledger.enter("learn.stayed", stayed).about("for how many steps the loss must stay there");
    ledger
        .enter("learn.exploded", exploded)
        .digits(0)
        .about("how many times the loss of the start it may become before the training has failed");
    ledger
        .enter("learn.longest", longest)
        .about("after how many steps a training ends at the latest");
}

fn enter_sentences(ledger: &mut Ledger) {
    ledger.enter("learn.vocabulary", vocabulary).about("all words");
    ledger.enter("learn.noun.example", example_text::<Noun>).about("a sentence of the first task");
    ledger
        .enter("learn.noun.others", other_texts::<Noun>)
        .about("three more sentences of the first task");
    ledger
        .enter("learn.previous.example", example_text::<Previous>)
        .about("a sentence of the second task");
    let columns: Vec<&str> = WORDS.into_iter().chain(POSITIONS).collect();
    ledger
        .enter("learn.x", embeddings)
        .digits(0)
        .rows(&labels::<Noun>())
        .columns(&columns)
        .symbol("X")
        .about("the embeddings of a sentence: a 1 for the word and a 1 for the position");
}

/// How many words there are.
#[must_use]
pub fn words() -> usize {
    WORDS.len()
}

/// How many positions a sentence may have.
#[must_use]
pub fn positions() -> usize {
    TOKENS
}

/// `d_model`.
#[must_use]
pub fn model_width() -> usize {
    D_MODEL
}

/// `d`.
#[must_use]
pub fn head_size() -> usize {
    D
}

/// How many numbers `W_Q`, `W_K` and `W_V` have.
#[must_use]
pub fn weights() -> usize {
    D_MODEL * (D + D + WORDS.len())
}

/// The standard deviation of a weight at the start.
#[must_use]
pub fn spread() -> f64 {
    SPREAD
}

/// The seed of the text.
#[must_use]
pub fn seed() -> u64 {
    SEED
}

/// The learning rate of the text.
#[must_use]
pub fn rate() -> f64 {
    RATE
}

/// How many sentences each step learns from.
#[must_use]
pub fn batch() -> usize {
    BATCH
}

/// How many sentences the exam has.
#[must_use]
pub fn exam() -> usize {
    EXAM
}

/// The loss below which a task counts as learned.
#[must_use]
pub fn passed() -> f64 {
    PASSED
}

/// For how many steps the loss must stay there.
#[must_use]
pub fn stayed() -> usize {
    STAYED
}

/// How many times the loss of the start is too much.
#[must_use]
pub fn exploded() -> f64 {
    EXPLODED
}

/// The most steps of a training.
#[must_use]
pub fn longest() -> usize {
    LONGEST
}

/// All words, in the order of the embeddings.
#[must_use]
pub fn vocabulary() -> String {
    WORDS.join(", ")
}

/// The sentence of a task that the text follows.
///
/// # Errors
///
/// None that can happen: the run has examples.
pub fn example<L: Lesson>() -> Result<Sentence, Error> {
    let sentence = L::run()?.start.examples().first().cloned();
    sentence.ok_or_else(|| "the run has no examples".to_owned())
}

/// Its words, to label a matrix with; none if there is no run.
#[must_use]
pub fn labels<L: Lesson>() -> Vec<&'static str> {
    example::<L>().map(|sentence| sentence.words()).unwrap_or_default()
}

/// Its words as a text.
///
/// # Errors
///
/// Those of [`example`].
pub fn example_text<L: Lesson>() -> Result<String, Error> {
    Ok(example::<L>()?.words().join(" "))
}

/// Three more sentences, as a text.
///
/// # Errors
///
/// Those of [`example`].
pub fn other_texts<L: Lesson>() -> Result<String, Error> {
    let texts = L::run()?.start.examples().iter().skip(1).map(|other| other.words().join(" "));
    Ok(texts.map(|text| format!("“{text}”")).collect::<Vec<_>>().join(", "))
}

/// `X`, of the first task's sentence.
///
/// # Errors
///
/// Those of [`example`].
pub fn embeddings() -> Result<Array2<f64>, Error> {
    Ok(example::<Noun>()?.embeddings())
}
