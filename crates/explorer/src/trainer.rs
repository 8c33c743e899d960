//! A head that learns, live: the run of a task, a seed and a learning rate after
//! so many steps, and everything that is shown of it. The learning itself is
//! `learning::single_head`; how it is drawn is the page's business.

mod asked;
mod curve;

use crate::json::{Unreadable, Value, object, written};
use crate::written::{Num, shown};
pub(crate) use asked::Asked;
use asked::Problem;
use attention::ndarray::Array2;
use curve::Curve;
use learning::single_head::{EXPLODED, PASSED, STAYED, Sentence, State, Training};
use std::cell::RefCell;

/// The weights have full shade from here on, or where the largest is.
const FULL: f64 = 1.0;
/// Digits after the point: of weights, and of the loss and the attention.
const DIGITS: u8 = 2;
const LOSS_DIGITS: u8 = 4;

thread_local! {
    /// The run that was asked for last, to go on from. That is only for speed:
    /// an answer is the same without it.
    static LAST: RefCell<Option<(Asked, Training)>> = const { RefCell::new(None) };
}

/// Answers `train`.
pub(crate) fn answer(request: &Value) -> Result<String, Unreadable> {
    let steps = request.index("steps")?;
    match Asked::read(request)? {
        Ok(asked) => Ok(written(&Answer { problems: Vec::new(), run: Some(run(asked, steps)?) })),
        Err(problems) => Ok(written(&Answer { problems, run: None })),
    }
}

/// The run after so many steps, or where it has ended by itself.
pub(crate) fn run(asked: Asked, steps: usize) -> Result<Run, Unreadable> {
    let kept = LAST.take().filter(|(last, training)| *last == asked && training.steps() <= steps);
    let mut training = match kept {
        Some((_, training)) => training,
        None => asked.training()?,
    };
    while training.steps() < steps && training.state() == State::Learning {
        training.step().map_err(|error| format!("The step cannot be taken: {error}."))?;
    }
    let run = Run::of(&training)?;
    LAST.set(Some((asked, training)));
    Ok(run)
}

/// With problems there is no run.
struct Answer {
    problems: Vec<Problem>,
    run: Option<Run>,
}

object!(Answer { problems, run });

/// A training as it is shown.
pub(crate) struct Run {
    steps: usize,
    state: &'static str,
    loss: Num,
    attention: Num,
    curve: Curve,
    matrices: Vec<Weights>,
    examples: Vec<Example>,
    spoken: String,
}

object!(Run { steps, state, loss, attention, curve, matrices, examples, spoken });

impl Run {
    fn of(training: &Training) -> Result<Run, Unreadable> {
        let head = training.head();
        let examples = training.examples().iter().map(|sentence| Example::of(training, sentence));
        Ok(Run {
            steps: training.steps(),
            state: name(training.state()),
            loss: Num::new(training.loss(), LOSS_DIGITS),
            attention: Num::new(training.attention_to_source(), DIGITS),
            curve: Curve::of(training.losses()),
            matrices: vec![
                Weights::of("W_Q", head.w_q()),
                Weights::of("W_K", head.w_k()),
                Weights::of("W_V", head.w_v()),
            ],
            examples: examples.collect::<Result<_, _>>()?,
            spoken: spoken(training),
        })
    }
}

fn name(state: State) -> &'static str {
    match state {
        State::Learning => "learning",
        State::Learned => "learned",
        State::Diverged => "diverged",
        State::Stopped => "stopped",
    }
}

/// Where the training is, in full sentences.
fn spoken(training: &Training) -> String {
    let steps = match training.steps() {
        1 => "1 step".to_owned(),
        steps => format!("{steps} steps"),
    };
    let loss = shown(training.loss(), LOSS_DIGITS);
    let now = format!(
        "the loss is {loss}, and the right word gets {} of the attention.",
        shown(training.attention_to_source(), DIGITS)
    );
    match training.state() {
        State::Learning => format!("After {steps}, {now}"),
        State::Learned => format!(
            "Learned after {steps}, for the loss has stayed below {PASSED} for {STAYED} of them. \
             Now {now}"
        ),
        State::Stopped => format!(
            "Stopped after {steps}, and not learned: {now} Try another learning rate or another \
             seed."
        ),
        State::Diverged => {
            let why = if training.loss() > EXPLODED * training.losses()[0] {
                format!("the loss is {loss}, more than {EXPLODED} times that of the start.")
            } else {
                "some numbers have grown beyond all that a computer can hold.".to_owned()
            };
            format!(
                "Diverged after {steps}: {why} The learning rate is too high. Reset, and try a \
                 lower one."
            )
        }
    }
}

/// A weight matrix as shaded numbers.
struct Weights {
    name: &'static str,
    shown: Vec<Vec<String>>,
    /// From −1 to 1.
    shade: Vec<Vec<f64>>,
    /// The size that has full shade, as shown.
    full: String,
}

object!(Weights { name, shown, shade, full });

impl Weights {
    fn of(name: &'static str, weights: &Array2<f64>) -> Weights {
        let sizes = weights.iter().map(|weight| weight.abs()).filter(|size| size.is_finite());
        let full = sizes.fold(FULL, f64::max);
        Weights { name, shown: texts(weights), shade: shades(weights, full), full: shown(full, 1) }
    }
}

/// A sentence and where the head looks in it.
struct Example {
    words: Vec<&'static str>,
    /// What is asked: at which word, and which word is the answer.
    asked: Vec<Vec<usize>>,
    shown: Vec<Vec<String>>,
    /// From 0 to 1.
    shade: Vec<Vec<f64>>,
}

object!(Example { words, asked, shown, shade });

impl Example {
    fn of(training: &Training, sentence: &Sentence) -> Result<Example, Unreadable> {
        let weights = training
            .attention(sentence)
            .map_err(|error| format!("The attention cannot be computed: {error}."))?;
        let asked = sentence.questions().iter().map(|question| vec![question.at, question.source]);
        Ok(Example {
            words: sentence.words(),
            asked: asked.collect(),
            shown: texts(&weights),
            shade: shades(&weights, 1.0),
        })
    }
}

fn texts(numbers: &Array2<f64>) -> Vec<Vec<String>> {
    let row = |row: &[f64]| row.iter().map(|&number| shown(number, DIGITS)).collect();
    rows(numbers).map(row).collect()
}

/// Numbers as shares of `full`, from −1 to 1, to a hundredth; NaN is 0.
fn shades(numbers: &Array2<f64>, full: f64) -> Vec<Vec<f64>> {
    let shade = |number: &f64| match (number / full).clamp(-1.0, 1.0) {
        share if share.is_nan() => 0.0,
        // No minus before a 0.
        share => (share * 100.0).round() / 100.0 + 0.0,
    };
    rows(numbers).map(|row| row.iter().map(shade).collect()).collect()
}

fn rows(numbers: &Array2<f64>) -> impl Iterator<Item = &[f64]> {
    let width = numbers.ncols().max(1);
    numbers.as_slice().unwrap_or_default().chunks(width)
}
