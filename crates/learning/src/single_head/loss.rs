//! How wrong a head is about a batch of sentences, and which way each of its
//! weights would have to move. The gradients within the head are `attention`'s;
//! here is only where they begin, at the loss.

use super::Sentence;
use attention::ndarray::{Array2, ArrayRef1};
use attention::{Error, Head, Options, Real as _, Trace, recipe};

/// How a head does in an exam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The loss, on average over all questions.
    pub loss: f64,
    /// How much attention the position of the answer gets, on average.
    pub attention: f64,
}

/// The gradient of the loss with respect to a head's weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// `dW_Q`: `(d_model, d)`.
    pub w_q: Array2<f64>,
    /// `dW_K`: `(d_model, d)`.
    pub w_k: Array2<f64>,
    /// `dW_V`: `(d_model, d_v)`.
    pub w_v: Array2<f64>,
}

/// The loss of a head, and its attention to where the answers are; both are
/// averages over all questions of the sentences.
///
/// `L = −(1/n) Σ ln softmax(o)ₜ`, where `o` is the output at a question, `t` the
/// word that answers it, and `n` how many questions there are; 0 if there are none.
///
/// # Errors
///
/// [`Error::Shape`] if the head is not of the sizes that the embeddings and the
/// words ask for; [`Error::TooLarge`] if memory does not suffice.
///
/// # Numerics
///
/// The logarithm of a probability is taken from the outputs themselves, so that a
/// probability too small for the type still has a loss.
pub fn score(head: &Head<f64>, sentences: &[Sentence]) -> Result<Score, Error> {
    let (mut loss, mut attention) = (0.0, 0.0);
    for sentence in sentences {
        let trace = trace(head, sentence)?;
        for &question in sentence.questions() {
            loss += surprise(&trace.output.row(question.at), sentence.answer(question));
            attention += trace.weights[[question.at, question.source]];
        }
    }
    let share = 1.0 / asked(sentences);
    Ok(Score { loss: loss * share, attention: attention * share })
}

/// The gradient of the loss with respect to the weights.
///
/// At a question `dO = (softmax(o) − 1ₜ)/n`, where `1ₜ` is 1 at the answer and 0
/// elsewhere; at all other positions it is 0. From there [`Head::gradient`] goes
/// back to the weights, and the sentences' gradients are added, in order.
///
/// # Errors
///
/// Those of [`score`].
pub fn gradient(head: &Head<f64>, sentences: &[Sentence]) -> Result<Gradient, Error> {
    let mut sum = Gradient {
        w_q: Array2::zeros(head.w_q().dim()),
        w_k: Array2::zeros(head.w_k().dim()),
        w_v: Array2::zeros(head.w_v().dim()),
    };
    let share = 1.0 / asked(sentences);
    for sentence in sentences {
        let trace = trace(head, sentence)?;
        let d_output = miss(&trace.output, sentence) * share;
        let gradient =
            head.gradient(&sentence.embeddings(), &trace, &d_output, Options::causal())?;
        sum.w_q += &gradient.w_q;
        sum.w_k += &gradient.w_k;
        sum.w_v += &gradient.w_v;
    }
    Ok(sum)
}

fn trace(head: &Head<f64>, sentence: &Sentence) -> Result<Trace<f64>, Error> {
    head.trace(&sentence.embeddings(), Options::causal())
}

/// How many questions there are; 1 if none, for sums of nothing are 0 already.
fn asked(sentences: &[Sentence]) -> f64 {
    let questions: usize = sentences.iter().map(|sentence| sentence.questions().len()).sum();
    questions.max(1) as f64
}

/// The loss at one question: `−ln softmax(o)ₜ = m + ln Σ exp(oᵢ − m) − oₜ`, where
/// `m` is the largest of the outputs.
fn surprise(output: &ArrayRef1<f64>, answer: usize) -> f64 {
    let largest = output.fold(f64::NEG_INFINITY, |largest, &o| largest.max(o));
    let total = output.fold(0.0, |total, &o| total + (o - largest).portable_exp());
    largest - output[answer] + libm::log(total)
}

/// How far the probabilities are from the right answers: the probability of each
/// word, less 1 for the right one; 0 in rows where nothing is asked.
fn miss(output: &Array2<f64>, sentence: &Sentence) -> Array2<f64> {
    let probabilities = recipe::softmax(output);
    let mut miss = Array2::zeros(output.dim());
    for &question in sentence.questions() {
        miss.row_mut(question.at).assign(&probabilities.row(question.at));
        miss[[question.at, sentence.answer(question)]] -= 1.0;
    }
    miss
}
