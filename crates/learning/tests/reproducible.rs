//! The same seed gives the same weights, to the bit, on any number of threads.

#![cfg(feature = "rayon")]
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use learning::model::Model;
use learning::training::{Plan, Training};

/// The weights after a few steps.
fn trained(seed: u32, threads: usize) -> Model<f32> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut training = Training::new(Plan::new(seed, 20));
        for _ in 0..20 {
            training.step().unwrap();
        }
        training.model().clone()
    })
}

#[test]
fn threads_do_not_change_a_bit() {
    let one = trained(3, 1);
    assert_eq!(one, trained(3, 2));
    assert_ne!(one, trained(4, 2), "another seed gives other weights");
}

/// A sum over the bits of all weights, as it came out when this was written: on
/// another machine, or after a change that should not matter, it must be the same.
#[test]
fn the_weights_are_those_of_every_machine() {
    let model = trained(3, 2);
    let sum =
        model.tensors().iter().flat_map(|(_, tensor)| tensor).fold(0_u64, |sum, weight| {
            sum.rotate_left(5).wrapping_add(u64::from(weight.to_bits()))
        });
    assert_eq!(format!("{sum:016x}"), "");
}
