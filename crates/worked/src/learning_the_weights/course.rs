//! The course of a training: the loss from step to step, and what the head looks
//! at before, on the way and after.

use learning::single_head::{Sentence, Training};
use ledger::{Axis, Figure, Ledger, Plot, Series};
use ndarray::Array2;

use super::runs::{Error, Lesson, Noun, Previous, after, text};
use super::{example, labels};
use crate::Claim;

/// The moments of the table of the first task.
const MOMENTS: [usize; 5] = [0, 25, 45, 60, 100];
const MOMENT_NAMES: [&str; 5] =
    ["at the start", "after 25 steps", "after 45 steps", "after 60 steps", "after 100 steps"];

/// Enters the values of the sections.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("learn.step.loss", loss_after_one_step)
        .digits(4)
        .about("the loss of the first task after one step");
    ledger
        .enter("learn.curves", curves)
        .digits(3)
        .about("the loss after each step, for both tasks");
    ledger
        .enter("learn.noun.moments", moments)
        .digits(3)
        .rows(&MOMENT_NAMES)
        .columns(&["loss", "attention to the noun"])
        .about("the loss and the attention to the noun at five moments");
    ledger
        .enter("learn.noun.first.the.words", words_come_first)
        .about("after 25 steps the loss has fallen by a third, and the attention has hardly moved");
    enter_run::<Noun>(ledger, "noun");
    enter_run::<Previous>(ledger, "previous");
}

fn enter_run<L: Lesson>(ledger: &mut Ledger, task: &str) {
    let labels = labels::<L>();
    ledger
        .enter(&format!("learn.{task}.steps"), steps::<L>)
        .about("after how many steps the training ends");
    ledger
        .enter(&format!("learn.{task}.middle"), middle::<L>)
        .about("after how many steps the head is looked at on its way");
    ledger.enter(&format!("learn.{task}.loss"), loss::<L>).digits(4).about("the loss at the end");
    ledger
        .enter(&format!("learn.{task}.attends"), attends::<L>)
        .digits(3)
        .about("the attention that the answer's position gets at the end, on average");
    ledger
        .enter(&format!("learn.{task}.attention.start"), attention_at_start::<L>)
        .rows(&labels)
        .columns(&labels)
        .symbol("A")
        .about("the weights of attention before the first step");
    ledger
        .enter(&format!("learn.{task}.attention.middle"), attention_on_the_way::<L>)
        .rows(&labels)
        .columns(&labels)
        .symbol("A")
        .about("the weights of attention on the way");
    ledger
        .enter(&format!("learn.{task}.attention.end"), attention_at_end::<L>)
        .rows(&labels)
        .columns(&labels)
        .symbol("A")
        .about("the weights of attention at the end");
    ledger
        .enter(&format!("learn.{task}.looks"), looks_at_the_answer::<L>)
        .about("wherever something is asked, the answer's position gets more than nine tenths");
}

/// The loss of the first task after one step.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn loss_after_one_step() -> Result<f64, Error> {
    Ok(Noun::run()?.end.losses()[1])
}

/// The loss after each step, for both tasks.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn curves() -> Result<Figure, Error> {
    let series = vec![
        Series { name: "find the noun".to_owned(), points: points(&Noun::run()?.end) },
        Series { name: "copy the word before".to_owned(), points: points(&Previous::run()?.end) },
    ];
    Ok(Figure {
        description: "Two curves that begin near 2.5. The first falls at once, hesitates near 1.5 \
                      until about step 40, drops to a tenth by step 80, and then creeps. The second \
                      hardly falls for 60 steps, then drops quickly until step 120, and then creeps."
            .to_owned(),
        plot: Plot::Lines { x: Axis::linear("step"), y: Axis::linear("loss"), series },
    })
}

/// A training's losses over its steps; of a long one, every fifth.
pub(super) fn points(training: &Training) -> Vec<(f64, f64)> {
    let losses = training.losses();
    let last = training.steps();
    let shown = losses.iter().enumerate().filter(|(step, _)| step % 5 == 0 || *step == last);
    shown.map(|(step, &loss)| (step as f64, loss)).collect()
}

/// The loss, and the attention to the noun, at five moments.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn moments() -> Result<Array2<f64>, Error> {
    let mut training = Noun::run()?.start.clone();
    let mut rows = Array2::zeros((MOMENTS.len(), 2));
    for (mut row, moment) in rows.outer_iter_mut().zip(MOMENTS) {
        training = after(training.clone(), moment - training.steps())?;
        (row[0], row[1]) = (training.loss(), training.attention_to_source());
    }
    Ok(rows)
}

/// [`loss_moves_first`], of the run in the text.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn words_come_first() -> Claim {
    loss_moves_first(&moments()?)
}

/// From the first moment to the second the loss falls by a third or more, and the
/// attention rises by less than a twentieth.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn loss_moves_first(moments: &Array2<f64>) -> Claim {
    let loss = moments[[1, 0]] / moments[[0, 0]];
    let attention = moments[[1, 1]] - moments[[0, 1]];
    if loss < 2.0 / 3.0 && attention < 0.05 {
        Ok(())
    } else {
        Err(format!("the loss is {loss} of what it was, and the attention {attention} more"))
    }
}

/// After how many steps the training ends.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn steps<L: Lesson>() -> Result<usize, Error> {
    Ok(L::run()?.end.steps())
}

/// After how many steps the head is looked at on its way.
#[must_use]
pub fn middle<L: Lesson>() -> usize {
    L::MIDDLE
}

/// The loss at the end.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn loss<L: Lesson>() -> Result<f64, Error> {
    Ok(L::run()?.end.loss())
}

/// The attention that the answer's position gets at the end, on average.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn attends<L: Lesson>() -> Result<f64, Error> {
    Ok(L::run()?.end.attention_to_source())
}

/// `A` before the first step.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn attention_at_start<L: Lesson>() -> Result<Array2<f64>, Error> {
    L::run()?.start.attention(&example::<L>()?).map_err(text)
}

/// `A` on the way.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn attention_on_the_way<L: Lesson>() -> Result<Array2<f64>, Error> {
    L::run()?.middle.attention(&example::<L>()?).map_err(text)
}

/// `A` at the end.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn attention_at_end<L: Lesson>() -> Result<Array2<f64>, Error> {
    L::run()?.end.attention(&example::<L>()?).map_err(text)
}

/// [`looks_right`], of the trained head and the sentence of the text.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn looks_at_the_answer<L: Lesson>() -> Claim {
    looks_right(&L::run()?.end, &example::<L>()?)
}

/// At every question of a sentence, the position of the answer gets more than nine
/// tenths of the attention.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn looks_right(training: &Training, sentence: &Sentence) -> Claim {
    let weights = training.attention(sentence).map_err(text)?;
    for question in sentence.questions() {
        let weight = weights[[question.at, question.source]];
        if weight <= 0.9 {
            let [at, source] = [question.at, question.source].map(|at| sentence.words()[at]);
            return Err(format!("“{at}” gives {weight} to “{source}”"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_that_has_not_learned_does_not_look_right() {
        let run = Noun::run().unwrap();
        let told = looks_right(&run.start, &example::<Noun>().unwrap()).unwrap_err();
        assert!(told.contains("to “dog”"), "{told}");
    }

    #[test]
    fn the_loss_of_a_head_that_looks_first_does_not_move_first() {
        let mut moments = moments().unwrap();
        moments[[1, 1]] += 0.1;
        assert!(loss_moves_first(&moments).is_err());
    }
}
