//! The training itself: a head, the sentences it meets, and when it has come to
//! an end. What a loss is and where its gradient comes from is told in `loss`.

use super::{
    BATCH, D, D_MODEL, D_V, EXAM, EXPLODED, Error, LONGEST, PASSED, SPREAD, STAYED, Score,
    Sentence, Task, draw, gradient, score,
};
use crate::Random;
use attention::ndarray::Array2;
use attention::{Head, Options};

/// The exam is the same for every run, so that runs can be compared.
const EXAM_SEED: u64 = u64::MAX;
/// How many sentences of it are shown.
const EXAMPLES: usize = 4;

/// How far a training has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The next step will change the weights.
    Learning,
    /// The loss has stayed below [`PASSED`] for [`STAYED`] steps.
    Learned,
    /// The loss has grown to more than [`EXPLODED`] times what it was, or
    /// something is no finite number any more.
    Diverged,
    /// [`LONGEST`] steps were taken, and the task was not learned.
    Stopped,
}

/// A head in training.
///
/// The same task, seed and rate give the same numbers, to the bit, on every machine.
#[derive(Clone, Debug)]
pub struct Training {
    task: Task,
    rate: f64,
    head: Head<f64>,
    random: Random,
    pub(super) exam: Vec<Sentence>,
    losses: Vec<f64>,
    attention: f64,
    state: State,
}

impl Training {
    /// A head with random weights, about to learn.
    ///
    /// # Errors
    ///
    /// [`Error::Rate`] if the rate is not finite or not above 0.
    pub fn new(task: Task, seed: u64, rate: f64) -> Result<Training, Error> {
        let mut random = Random::seeded(seed);
        let head = Head::new(
            random.matrix(D_MODEL, D) * SPREAD,
            random.matrix(D_MODEL, D) * SPREAD,
            random.matrix(D_MODEL, D_V) * SPREAD,
        )?;
        Training::begin(task, head, random, rate)
    }

    /// A training that begins with a head of one's own; the seed chooses the
    /// sentences alone.
    ///
    /// # Shapes
    ///
    /// `W_Q` and `W_K` ([`D_MODEL`], any d), `W_V` ([`D_MODEL`], [`D_V`]).
    ///
    /// # Errors
    ///
    /// [`Error::Rate`] if the rate is not finite or not above 0;
    /// [`Error::Attention`] if the head does not have these shapes.
    pub fn from_head(task: Task, head: Head<f64>, seed: u64, rate: f64) -> Result<Training, Error> {
        Training::begin(task, head, Random::seeded(seed), rate)
    }

    fn begin(task: Task, head: Head<f64>, random: Random, rate: f64) -> Result<Training, Error> {
        if !(rate.is_finite() && rate > 0.0) {
            return Err(Error::Rate(rate));
        }
        let mut questions = Random::seeded(EXAM_SEED);
        let exam: Vec<Sentence> = (0..EXAM).map(|_| draw(task, &mut questions)).collect();
        let Score { loss, attention } = score(&head, &exam)?;
        let state = if loss.is_finite() { State::Learning } else { State::Diverged };
        Ok(Training { task, rate, head, random, exam, losses: vec![loss], attention, state })
    }

    /// One step of gradient descent: `W ← W − rate·dW`, on a new batch of
    /// sentences, for each of the three weight matrices. A training that has come
    /// to its end stays as it is.
    ///
    /// # Errors
    ///
    /// [`Error::Attention`] if memory does not suffice.
    ///
    /// # Numerics
    ///
    /// Every sum is taken in order, and exponentials are those of plain Rust: the
    /// same bits come out everywhere. Weights that overflow end the training as
    /// [`State::Diverged`], and are kept as they are.
    pub fn step(&mut self) -> Result<(), Error> {
        if self.state != State::Learning {
            return Ok(());
        }
        let batch: Vec<Sentence> = (0..BATCH).map(|_| self.lesson()).collect();
        let gradient = gradient(&self.head, &batch)?;
        self.head = Head::new(
            descended(self.head.w_q(), &gradient.w_q, self.rate),
            descended(self.head.w_k(), &gradient.w_k, self.rate),
            descended(self.head.w_v(), &gradient.w_v, self.rate),
        )?;
        let Score { loss, attention } = score(&self.head, &self.exam)?;
        self.losses.push(loss);
        self.attention = attention;
        self.state = self.judged();
        Ok(())
    }

    /// A sentence to learn from: one that is not asked in the exam.
    pub(super) fn lesson(&mut self) -> Sentence {
        loop {
            let sentence = draw(self.task, &mut self.random);
            if !self.exam.contains(&sentence) {
                return sentence;
            }
        }
    }

    fn judged(&self) -> State {
        let weights = [self.head.w_q(), self.head.w_k(), self.head.w_v()];
        let finite = weights.iter().all(|w| w.iter().all(|weight| weight.is_finite()));
        if !finite || self.loss().is_nan() || self.loss() > EXPLODED * self.losses[0] {
            State::Diverged
        } else if self.losses.iter().rev().take_while(|&&loss| loss < PASSED).count() >= STAYED {
            State::Learned
        } else if self.steps() >= LONGEST {
            State::Stopped
        } else {
            State::Learning
        }
    }

    /// What the head is to learn.
    #[must_use]
    pub fn task(&self) -> Task {
        self.task
    }

    /// The learning rate.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// How many steps were taken.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.losses.len() - 1
    }

    /// The loss in the exam, now.
    #[must_use]
    pub fn loss(&self) -> f64 {
        self.losses[self.steps()]
    }

    /// The loss in the exam before the first step, and after each.
    #[must_use]
    pub fn losses(&self) -> &[f64] {
        &self.losses
    }

    /// How much attention the token that holds the answer gets, on average over
    /// the questions of the exam.
    #[must_use]
    pub fn attention_to_source(&self) -> f64 {
        self.attention
    }

    /// The head as it is now.
    #[must_use]
    pub fn head(&self) -> &Head<f64> {
        &self.head
    }

    /// A few sentences to look at, of those that are not learned from.
    #[must_use]
    pub fn examples(&self) -> &[Sentence] {
        &self.exam[..EXAMPLES]
    }

    /// The head's weights of attention for a sentence: `A (T, T)`.
    ///
    /// # Errors
    ///
    /// [`Error::Attention`] if memory does not suffice.
    pub fn attention(&self, sentence: &Sentence) -> Result<Array2<f64>, Error> {
        Ok(self.head.trace(&sentence.embeddings(), Options::causal())?.weights)
    }

    /// How far the training has come.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }
}

/// A matrix moved against its gradient.
fn descended(weights: &Array2<f64>, gradient: &Array2<f64>, rate: f64) -> Array2<f64> {
    weights - gradient * rate
}
