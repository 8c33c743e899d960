//! What a head in training must do, held against finite differences, numbers
//! worked by hand, and itself run again.

use super::*;
use crate::Random;
use approx::assert_abs_diff_eq;
use attention::Head;
use attention::ndarray::Array2;

const TASKS: [Task; 2] = [Task::Noun, Task::Previous];

fn trained(task: Task, seed: u64, rate: f64) -> Training {
    let mut training = Training::new(task, seed, rate).unwrap();
    while training.state() == State::Learning {
        training.step().unwrap();
    }
    training
}

fn weights(head: &Head<f64>) -> [Array2<f64>; 3] {
    [head.w_q().clone(), head.w_k().clone(), head.w_v().clone()]
}

fn head([w_q, w_k, w_v]: [Array2<f64>; 3]) -> Head<f64> {
    Head::new(w_q, w_k, w_v).unwrap()
}

#[test]
fn gradients_agree_with_finite_differences() {
    const NUDGE: f64 = 1e-5;
    for task in TASKS {
        let training = Training::new(task, 5, 1.0).unwrap();
        // Larger weights than those of the start, so that no gradient is nearly 0.
        let start = weights(training.head()).map(|w| w * 4.0);
        let batch = &training.exam[..5];
        let Gradient { w_q, w_k, w_v } = gradient(&head(start.clone()), batch).unwrap();
        for (matrix, gradient) in [w_q, w_k, w_v].iter().enumerate() {
            let largest = gradient.fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
            for (place, &entry) in gradient.indexed_iter() {
                let loss = |by: f64| {
                    let mut nudged = start.clone();
                    nudged[matrix][place] += by;
                    score(&head(nudged), batch).unwrap().loss
                };
                let difference = (loss(NUDGE) - loss(-NUDGE)) / (2.0 * NUDGE);
                let apart = (difference - entry).abs();
                assert!(
                    apart < 1e-6 * largest,
                    "{task:?} {matrix} {place:?}: {entry}, {difference}"
                );
            }
        }
    }
}

/// A head of zeros gives every word the same probability, and every token it sees
/// the same weight.
#[test]
fn a_head_of_zeros_has_the_loss_of_guessing() {
    let zeros = Head::new(
        Array2::zeros((D_MODEL, D)),
        Array2::zeros((D_MODEL, D)),
        Array2::zeros((D_MODEL, D_V)),
    );
    let training = Training::from_head(Task::Previous, zeros.unwrap(), 1, 1.0).unwrap();
    assert_abs_diff_eq!(training.loss(), 12_f64.ln(), epsilon = 1e-14);
    let uniform = (1.0 / 2.0 + 1.0 / 3.0 + 1.0 / 4.0 + 1.0 / 5.0 + 1.0 / 6.0) / 5.0;
    assert_abs_diff_eq!(training.attention_to_source(), uniform, epsilon = 1e-14);
}

/// One token after one other: the outputs are the averages of their values.
#[test]
fn the_loss_is_that_worked_by_hand() {
    let mut w_v = Array2::zeros((D_MODEL, D_V));
    w_v[[4, 4]] = 2.0;
    let [w_q, w_k] = [Array2::zeros((D_MODEL, D)), Array2::zeros((D_MODEL, D))];
    let head = Head::new(w_q, w_k, w_v).unwrap();
    // Wherever “cat” is the noun, its two questions see it among n tokens, and it
    // says 2/n for itself: the loss is −ln(e^(2/n)/(e^(2/n) + 11)).
    let mut random = Random::seeded(3);
    let sentence = loop {
        let drawn = draw(Task::Noun, &mut random);
        if drawn.words().contains(&"cat") {
            break drawn;
        }
    };
    let length = sentence.tokens().len() as f64;
    let surprise = |n: f64| -((2.0 / n).exp() / ((2.0 / n).exp() + 11.0)).ln();
    let by_hand = (surprise(length - 1.0) + surprise(length)) / 2.0;
    assert_abs_diff_eq!(score(&head, &[sentence]).unwrap().loss, by_hand, epsilon = 1e-14);
}

#[test]
fn random_weights_start_near_the_loss_of_guessing() {
    for task in TASKS {
        for seed in 0..8 {
            let training = Training::new(task, seed, 1.0).unwrap();
            assert_abs_diff_eq!(training.loss(), 12_f64.ln(), epsilon = 0.15);
        }
    }
}

#[test]
fn both_tasks_are_learned_from_every_seed() {
    for task in TASKS {
        for seed in [0, 1, 2, 7, 42, 1_000_003] {
            let training = trained(task, seed, 1.0);
            assert_eq!(training.state(), State::Learned, "{task:?} {seed}");
            assert!((60..400).contains(&training.steps()), "{task:?} {seed}: {}", training.steps());
            assert!(training.attention_to_source() > 0.9, "{task:?} {seed}");
            for sentence in training.examples() {
                let weights = training.attention(sentence).unwrap();
                for question in sentence.questions() {
                    assert!(weights[[question.at, question.source]] > 0.9, "{task:?} {seed}");
                }
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_does_not() {
    let [one, again, other] = [3, 3, 4].map(|seed| trained(Task::Noun, seed, 2.0));
    assert_eq!(one.losses(), again.losses());
    assert_eq!(one.head(), again.head());
    assert_ne!(one.losses()[1..10], other.losses()[1..10]);
}

/// What this code gave on the machine where it was written, for others to meet.
#[test]
fn the_bits_are_those_of_every_machine() {
    let mut training = Training::new(Task::Previous, 7, 1.0).unwrap();
    for _ in 0..5 {
        training.step().unwrap();
    }
    assert_eq!(training.loss(), 2.449_714_131_120_457);
}

#[test]
fn what_is_asked_in_the_exam_is_never_a_lesson() {
    let mut training = Training::new(Task::Noun, 1, 1.0).unwrap();
    for _ in 0..2000 {
        let lesson = training.lesson();
        assert!(!training.exam.contains(&lesson), "{:?}", lesson.words());
    }
}

#[test]
fn too_high_a_rate_diverges_and_then_stays_as_it_is() {
    for task in TASKS {
        for rate in [1000.0, 1e10, 1e200, f64::MAX] {
            let mut training = trained(task, 1, rate);
            assert_eq!(training.state(), State::Diverged, "{task:?} {rate}");
            let steps = training.steps();
            training.step().unwrap();
            assert_eq!(training.steps(), steps);
        }
    }
}

#[test]
fn too_low_a_rate_is_stopped() {
    let training = trained(Task::Previous, 1, f64::MIN_POSITIVE);
    assert_eq!((training.state(), training.steps()), (State::Stopped, LONGEST));
    assert_eq!(training.losses()[0], training.loss());
}

#[test]
fn weights_that_are_no_numbers_have_diverged_before_the_first_step() {
    let [mut w_q, w_k, w_v] = weights(Training::new(Task::Noun, 1, 1.0).unwrap().head());
    w_q.fill(f64::NAN);
    let mut training = Training::from_head(Task::Noun, head([w_q, w_k, w_v]), 1, 1.0).unwrap();
    training.step().unwrap();
    assert_eq!((training.state(), training.steps()), (State::Diverged, 0));
}

#[test]
fn a_rate_must_be_a_positive_number() {
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = Training::new(Task::Noun, 1, rate).unwrap_err();
        assert!(
            error.to_string().starts_with(&format!("the learning rate is {rate}, ")),
            "{error}"
        );
    }
}

#[test]
fn a_head_of_another_width_is_refused() {
    let narrow = Head::new(Array2::zeros((3, 2)), Array2::zeros((3, 2)), Array2::zeros((3, 12)));
    let error = Training::from_head(Task::Noun, narrow.unwrap(), 1, 1.0).unwrap_err();
    assert!(matches!(error, Error::Attention(attention::Error::Shape { .. })), "{error}");
}
