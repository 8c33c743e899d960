//! The trainings that the chapter tells of, each computed once for all values.

use std::sync::LazyLock;

use learning::single_head::{State, Task, Training};

use super::{RATE, SEED};

/// What went wrong, in words.
pub type Error = String;

/// A training at three moments.
#[derive(Clone, Debug)]
pub struct Run {
    /// Before the first step.
    pub start: Training,
    /// On the way.
    pub middle: Training,
    /// When it has come to its end by itself.
    pub end: Training,
}

/// A task of the text, with its run.
pub trait Lesson {
    /// What is learned.
    const TASK: Task;
    /// After how many steps the text looks at the head on its way.
    const MIDDLE: usize;

    /// The run with the seed and the learning rate of the text.
    ///
    /// # Errors
    ///
    /// None that can happen: the rate is positive and the shapes fit.
    fn run() -> Result<&'static Run, Error>;
}

/// To say the noun.
#[derive(Clone, Copy, Debug)]
pub struct Noun;

/// To say the word before.
#[derive(Clone, Copy, Debug)]
pub struct Previous;

impl Lesson for Noun {
    const TASK: Task = Task::Noun;
    const MIDDLE: usize = 45;

    fn run() -> Result<&'static Run, Error> {
        static RUN: LazyLock<Result<Run, Error>> = LazyLock::new(run::<Noun>);
        RUN.as_ref().map_err(Clone::clone)
    }
}

impl Lesson for Previous {
    const TASK: Task = Task::Previous;
    const MIDDLE: usize = 80;

    fn run() -> Result<&'static Run, Error> {
        static RUN: LazyLock<Result<Run, Error>> = LazyLock::new(run::<Previous>);
        RUN.as_ref().map_err(Clone::clone)
    }
}

fn run<L: Lesson>() -> Result<Run, Error> {
    let start = Training::new(L::TASK, SEED, RATE).map_err(text)?;
    let middle = after(start.clone(), L::MIDDLE)?;
    let end = to_the_end(middle.clone())?;
    Ok(Run { start, middle, end })
}

/// A training after so many steps more, or where it has ended.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn after(mut training: Training, steps: usize) -> Result<Training, Error> {
    for _ in 0..steps {
        training.step().map_err(text)?;
    }
    Ok(training)
}

/// A training where it has ended by itself.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn to_the_end(mut training: Training) -> Result<Training, Error> {
    while training.state() == State::Learning {
        training.step().map_err(text)?;
    }
    Ok(training)
}

/// An error in words.
pub(super) fn text(error: impl std::fmt::Display) -> Error {
    error.to_string()
}
