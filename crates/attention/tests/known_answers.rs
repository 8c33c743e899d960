//! The crate against numbers that NumPy computed: see `fixtures/make.py`.
//! What the numbers are is NumPy's word; nothing here computes attention.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use approx::assert_abs_diff_eq;
use attention::{Head, Mask, Options, heads};
use ndarray::{Array2, Array3, Dimension, OwnedRepr};
use ndarray_npy::{NpzReader, ReadableElement};
use std::fs::File;
use std::path::Path;

/// Opens a file of known answers.
fn fixture(name: &str) -> NpzReader<File> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    NpzReader::new(File::open(path).unwrap()).unwrap()
}

fn array<F: ReadableElement, D: Dimension>(
    file: &mut NpzReader<File>,
    name: &str,
) -> ndarray::Array<F, D> {
    file.by_name::<OwnedRepr<F>, D>(name).unwrap()
}

#[test]
fn every_step_of_one_head() {
    let mut file = fixture("head.npz");
    let mut known = |name| -> Array2<f64> { array(&mut file, name) };
    let head = Head::new(known("w_q"), known("w_k"), known("w_v")).unwrap();
    let trace = head.trace(&known("x"), Options::causal()).unwrap();
    assert_eq!(trace.output.dim(), (5, 2));
    assert_abs_diff_eq!(trace.q, known("q"), epsilon = 1e-14);
    assert_abs_diff_eq!(trace.k, known("k"), epsilon = 1e-14);
    assert_abs_diff_eq!(trace.v, known("v"), epsilon = 1e-14);
    assert_abs_diff_eq!(trace.scores, known("scores"), epsilon = 1e-14);
    assert_abs_diff_eq!(trace.scaled, known("scaled"), epsilon = 1e-14);
    assert_abs_diff_eq!(trace.weights, known("weights"), epsilon = 1e-14);
    assert_abs_diff_eq!(trace.output, known("output"), epsilon = 1e-14);
}

#[test]
fn many_heads_in_f64() {
    let mut file = fixture("heads_f64.npz");
    let mut known = |name| -> Array3<f64> { array(&mut file, name) };
    let (q, k, v) = (known("q"), known("k"), known("v"));
    let cases = [
        ("full", Options::full()),
        ("causal", Options::causal()),
        ("scaled", Options::masked(Mask::Causal).with_scale(0.25)),
    ];
    for (name, options) in cases {
        let answer = known(name);
        assert_abs_diff_eq!(heads::attend(&q, &k, &v, options).unwrap(), answer, epsilon = 1e-14);
        assert_abs_diff_eq!(
            heads::reference(&q, &k, &v, options).unwrap(),
            answer,
            epsilon = 1e-14
        );
    }
}

#[test]
fn many_heads_in_f32() {
    let mut file = fixture("heads_f32.npz");
    let [q, k, v] = ["q", "k", "v"].map(|name| -> Array3<f32> { array(&mut file, name) });
    for (name, options) in [("full", Options::full()), ("causal", Options::causal())] {
        let answer = array::<f64, _>(&mut file, name).mapv(|element| element as f32);
        let output = heads::attend(&q, &k, &v, options).unwrap();
        assert_abs_diff_eq!(output, answer, epsilon = 2e-6);
    }
}
