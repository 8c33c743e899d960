//! How far the kernel is from the exact result, in single precision and in 16 bits,
//! beside PyTorch on the same inputs: `fixtures/accuracy.json` has PyTorch's errors,
//! and `fixtures/make_accuracy.py` made it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use attention::heads::{self, Instructions};
use attention::ndarray::Array3;
use attention::{Element, Mask, Options};
use std::collections::BTreeMap;

const HEADS: usize = 2;
const QUERIES: usize = 259;
const KEYS: usize = 387;
const D: usize = 48;
const D_V: usize = 40;

/// How far the exact results are off themselves: sums of 387 numbers in f64, of which
/// each is rounded by a part in 2⁵³ at most.
const OF_EXACT: f64 = 387.0 * f64::EPSILON / 2.0;

/// The numbers of `random` in the script: mean 0 and variance 1.
fn random(seed: u64, shape: (usize, usize, usize)) -> Array3<f32> {
    let mut index = seed << 32;
    let mut uniform = || {
        index += 1;
        let mut z = index.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 40) as f64 / 2_f64.powi(24)
    };
    let mut number = || ((0..12).map(|_| uniform()).sum::<f64>() - 6.0) as f32;
    Array3::from_shape_simple_fn(shape, &mut number)
}

/// Rows that are 0 but for one number, whose place moves on from row to row.
fn one_hot(size: f32, shape: (usize, usize, usize)) -> Array3<f32> {
    let place = |head: usize, row: usize| (head * shape.1 + row) % D;
    Array3::from_shape_fn(shape, |(h, i, j)| if place(h, i) == j { size } else { 0.0 })
}

fn inputs(case: &str) -> [Array3<f32>; 3] {
    let [q, k, v] = [(HEADS, QUERIES, D), (HEADS, KEYS, D), (HEADS, KEYS, D_V)];
    match case {
        "normal" => [random(1, q), random(2, k), random(3, v)],
        "large" => [
            random(1, q).mapv(|x| (f64::from(x) * 5.0) as f32),
            random(2, k).mapv(|x| (f64::from(x) * 5.0) as f32),
            random(3, v),
        ],
        "one-hot" => [one_hot(64.0, q), one_hot(4.0, k), random(3, v)],
        _ => [(q, 0.5), (k, 0.25), (v, 0.7)].map(|(shape, x)| Array3::from_elem(shape, x)),
    }
}

fn root_mean_square(errors: &Array3<f64>) -> f64 {
    errors.mapv(|error| error * error).mean().expect("there are some").sqrt()
}

/// Demands that no error in a type is larger than so many times that in the record.
fn must_be_as_exact_as_pytorch<E: Element<Real = f32>>(
    record_of_type: &str,
    instructions: Instructions,
    times: f64,
) {
    let record = include_str!("fixtures/accuracy.json");
    let record: serde_json::Value = serde_json::from_str(record).unwrap();
    let theirs: BTreeMap<String, BTreeMap<String, f64>> =
        serde_json::from_value(record[record_of_type].clone()).unwrap();
    assert_eq!(theirs.len(), 8);
    for (name, theirs) in theirs {
        let (case, kind) = name.split_once(", ").unwrap();
        let mask = if kind == "causal" { Mask::Causal } else { Mask::Full };
        let [q, k, v] = inputs(case).map(|array| array.mapv(E::narrow));
        let output = heads::attend_on(instructions, &q, &k, &v, Options::masked(mask)).unwrap();
        let in_f64 = |array: Array3<E>| array.mapv(|number| f64::from(number.widen()));
        let [q, k, v] = [q, k, v].map(in_f64);
        let exact = heads::reference(&q, &k, &v, Options::masked(mask)).unwrap();
        let rms = root_mean_square(&(in_f64(output) - &exact));
        let most = theirs["rms"] * times + OF_EXACT;
        assert!(rms <= most, "{instructions}, {name}: {rms:e}, and PyTorch {:e}", theirs["rms"]);
    }
}

#[test]
fn in_single_precision_the_kernel_is_as_exact_as_pytorch_or_more() {
    must_be_as_exact_as_pytorch::<f32>("errors", Instructions::best(), 1.0);
}

/// PyTorch computes short sequences of such numbers in single precision, and so do
/// all but the instructions that multiply pairs: but for numbers that lie so near the
/// middle of two shorter ones that they fall to the other side. Those instructions
/// round the weights too, which adds up to half to the error.
#[cfg(feature = "bf16")]
#[test]
fn in_16_bits_the_kernel_is_as_exact_as_pytorch_but_for_rounded_weights() {
    for instructions in Instructions::available() {
        let pairs = instructions.to_string() == "AVX-512 BF16";
        let times = if pairs { 1.5 } else { 1.0001 };
        must_be_as_exact_as_pytorch::<half::bf16>("errors_bf16", instructions, times);
    }
}
