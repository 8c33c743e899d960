//! In single precision the kernel is no further from the exact result than
//! PyTorch is on the same inputs: `fixtures/accuracy.json` has PyTorch's errors,
//! and `fixtures/make_accuracy.py` made it.

use attention::ndarray::Array3;
use attention::{Mask, Options, heads};
use std::collections::BTreeMap;

const HEADS: usize = 2;
const QUERIES: usize = 259;
const KEYS: usize = 387;
const D: usize = 48;
const D_V: usize = 40;

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

#[test]
fn the_kernel_is_as_exact_as_pytorch_or_more() {
    let record = include_str!("fixtures/accuracy.json");
    let record: serde_json::Value = serde_json::from_str(record).unwrap();
    let theirs: BTreeMap<String, BTreeMap<String, f64>> =
        serde_json::from_value(record["errors"].clone()).unwrap();
    assert_eq!(theirs.len(), 8);
    for (name, theirs) in theirs {
        let (case, kind) = name.split_once(", ").unwrap();
        let mask = if kind == "causal" { Mask::Causal } else { Mask::Full };
        let [q, k, v] = inputs(case);
        let output = heads::attend(&q, &k, &v, Options::masked(mask)).unwrap();
        let [q, k, v] = [q, k, v].map(|array| array.mapv(f64::from));
        let exact = heads::reference(&q, &k, &v, Options::masked(mask)).unwrap();
        let rms = root_mean_square(&(output.mapv(f64::from) - &exact));
        assert!(rms <= theirs["rms"], "{name}: {rms:e}, and PyTorch {:e}", theirs["rms"]);
    }
}
