//! The same seed gives the same weights, to the bit, on any number of threads.

#![cfg(feature = "rayon")]
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use learning::model::Model;
use learning::training::{Plan, Training};

/// The weights after a few steps.
fn trained(seed: u32, threads: usize) -> Model<f32> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut training = Training::new(Plan::new(seed, STEPS));
        for _ in 0..STEPS {
            training.step().unwrap();
        }
        training.model().clone()
    })
}

const STEPS: usize = 20;

#[test]
fn threads_do_not_change_a_bit() {
    let one = trained(3, 1);
    assert_eq!(one, trained(3, 2));
    // As it came out when this was written. On another machine, or after a change
    // that should not matter, it must be the same.
    assert_eq!(format!("{:016x}", sum_of_bits(&one)), "c078169ad16f8590");
}

/// A sum over the bits of all weights.
fn sum_of_bits(model: &Model<f32>) -> u64 {
    model
        .tensors()
        .iter()
        .flat_map(|(_, tensor)| tensor)
        .fold(0, |sum: u64, weight| sum.rotate_left(5).wrapping_add(u64::from(weight.to_bits())))
}
