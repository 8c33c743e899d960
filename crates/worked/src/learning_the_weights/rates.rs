//! The same training with other learning rates: too low, and too high.

use std::sync::LazyLock;

use learning::single_head::{State, Training};
use ledger::{Axis, Figure, Ledger, Plot, Series};
use ndarray::Array1;

use super::course::points;
use super::runs::{Error, Lesson, Noun, after, text};
use super::{RATE, SEED};
use crate::Claim;

/// The rates of the table, and their names in the ledger and in the figure.
const RATES: [f64; 4] = [0.1, RATE, 10.0, 100.0];
const NAMES: [&str; 4] = ["0.1", "1", "10", "100"];
const LOW: usize = 0;
const CHOSEN: usize = 1;
const HIGH: usize = 2;
const EXTREME: usize = 3;
/// A training is followed no longer than this.
const FOLLOWED: usize = 150;

/// Enters the values of the section.
pub fn enter(ledger: &mut Ledger) {
    enter_rate::<LOW>(ledger, "low", 1);
    enter_rate::<CHOSEN>(ledger, "chosen", 0);
    enter_rate::<HIGH>(ledger, "high", 0);
    enter_rate::<EXTREME>(ledger, "extreme", 0);
    ledger
        .enter("learn.rates", curves)
        .digits(3)
        .about("the loss after each step, for four learning rates");
    let losses = diverging_losses().map_or(0, |losses| losses.len());
    let labels: Vec<String> = (0..losses).map(|step| format!("step {step}")).collect();
    ledger
        .enter("learn.diverging", diverging_losses)
        .columns(&labels)
        .about("the loss after each step with the highest rate, until the training ends");
    ledger
        .enter("learn.diverges", the_highest_diverges)
        .about("the highest rate diverges, and none of the others does");
}

fn enter_rate<const N: usize>(ledger: &mut Ledger, name: &str, digits: u8) {
    ledger.enter(&format!("learn.rate.{name}"), rate::<N>).digits(digits).about("a learning rate");
    ledger
        .enter(&format!("learn.rate.{name}.steps"), steps::<N>)
        .about("how many steps were taken with it");
    ledger
        .enter(&format!("learn.rate.{name}.loss"), loss::<N>)
        .digits(4)
        .about("the loss after these");
    ledger
        .enter(&format!("learn.rate.{name}.end"), end::<N>)
        .about("what had become of the training by then");
}

/// The training at each rate, at its end or as far as it is followed.
fn trainings() -> Result<&'static [Training], Error> {
    static TRAININGS: LazyLock<Result<Vec<Training>, Error>> = LazyLock::new(|| {
        let at = |rate| after(Training::new(Noun::TASK, SEED, rate).map_err(text)?, FOLLOWED);
        RATES.into_iter().map(at).collect()
    });
    TRAININGS.as_deref().map_err(Clone::clone)
}

/// A learning rate of the table.
#[must_use]
pub fn rate<const N: usize>() -> f64 {
    RATES[N]
}

/// How many steps were taken.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn steps<const N: usize>() -> Result<usize, Error> {
    Ok(trainings()?[N].steps())
}

/// The loss after these.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn loss<const N: usize>() -> Result<f64, Error> {
    Ok(trainings()?[N].loss())
}

/// What had become of the training by then.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn end<const N: usize>() -> Result<String, Error> {
    let end = match trainings()?[N].state() {
        State::Learning => "still learning",
        State::Learned => "learned",
        State::Diverged => "diverged",
        State::Stopped => "stopped",
    };
    Ok(end.to_owned())
}

/// The loss after each step, for the rates of the table.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn curves() -> Result<Figure, Error> {
    let curve = |(training, name): (&Training, &&str)| {
        let losses = training.losses().iter().enumerate();
        let every = losses.map(|(step, &loss)| (step as f64, loss));
        // A short training is shown step by step.
        let points = if training.steps() < 50 { every.collect() } else { points(training) };
        Series { name: format!("rate {name}"), points }
    };
    Ok(Figure {
        description:
            "Four curves that begin near 2.5. With the rate 0.1 the loss falls slowly and \
                      steadily; with 1 it is low by step 80; with 10 within ten steps; with 100 it \
                      leaps upwards and ends after a few."
                .to_owned(),
        plot: Plot::Lines {
            x: Axis::linear("step"),
            y: Axis::linear("loss"),
            series: trainings()?.iter().zip(&NAMES).map(curve).collect(),
        },
    })
}

/// The loss after each step with the highest rate.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn diverging_losses() -> Result<Array1<f64>, Error> {
    Ok(trainings()?[EXTREME].losses().iter().copied().collect())
}

/// [`only_the_last`], of the rates of the table.
///
/// # Errors
///
/// Why it does not hold.
pub fn the_highest_diverges() -> Claim {
    only_the_last(&trainings()?.iter().map(Training::state).collect::<Vec<_>>())
}

/// The last training has diverged, and no other.
///
/// # Errors
///
/// Why it does not hold.
pub fn only_the_last(states: &[State]) -> Claim {
    let last = states.len().saturating_sub(1);
    let right = |(place, &state): (usize, &State)| (state == State::Diverged) == (place == last);
    if states.iter().enumerate().all(right) { Ok(()) } else { Err(format!("they are {states:?}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_low_rate_that_diverges_is_told() {
        assert!(only_the_last(&[State::Diverged, State::Diverged]).is_err());
        assert!(only_the_last(&[State::Learned, State::Stopped]).is_err());
        assert_eq!(only_the_last(&[State::Learning, State::Diverged]), Ok(()));
    }
}
