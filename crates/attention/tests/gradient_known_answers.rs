//! The backward pass against what PyTorch's automatic differentiation says: see
//! `fixtures/make_gradient.py`. Nothing here computes a gradient.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use approx::assert_abs_diff_eq;
use attention::{Head, Mask, Options, Trace, heads};
use ndarray::{Array, Array2, Array3, Axis, Dimension, OwnedRepr};
use ndarray_npy::NpzReader;
use std::fs::File;
use std::path::Path;

/// The file of known answers.
struct Known(NpzReader<File>);

impl Known {
    fn open() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gradient.npz");
        Self(NpzReader::new(File::open(path).unwrap()).unwrap())
    }

    fn array<D: Dimension>(&mut self, name: &str) -> Array<f64, D> {
        self.0.by_name::<OwnedRepr<f64>, D>(name).unwrap()
    }
}

#[test]
fn every_gradient_of_one_head() {
    let mut file = Known::open();
    let mut known = |name: &str| -> Array2<f64> { file.array(&format!("head.{name}")) };
    let head = Head::new(known("w_q"), known("w_k"), known("w_v")).unwrap();
    let (x, d_output, options) = (known("x"), known("d_output"), Options::causal());
    let trace = head.trace(&x, options).unwrap();
    let gradient = head.gradient(&x, &trace, &d_output, options).unwrap();
    let through = &gradient.through;
    let made = [
        ("d_x", &gradient.x),
        ("d_w_q", &gradient.w_q),
        ("d_w_k", &gradient.w_k),
        ("d_w_v", &gradient.w_v),
        ("d_output", &through.output),
        ("d_weights", &through.weights),
        ("d_masked", &through.masked),
        ("d_scaled", &through.scaled),
        ("d_scores", &through.scores),
        ("d_q", &through.q),
        ("d_k", &through.k),
        ("d_v", &through.v),
    ];
    for (name, made) in made {
        println!("{name}");
        assert_abs_diff_eq!(*made, known(name), epsilon = 1e-14);
    }
}

/// The three cases of the file, and what the gradients are checked against.
fn cases() -> [(&'static str, Options<f64>); 3] {
    [
        ("full", Options::full()),
        ("causal", Options::causal()),
        ("from_start", Options::masked(Mask::CausalFromStart).with_scale(0.25)),
    ]
}

#[test]
fn each_of_many_heads_by_the_recipe() {
    let mut file = Known::open();
    let mut known = |name: &str| -> Array3<f64> { file.array(&format!("heads.{name}")) };
    let inputs = [known("q"), known("k"), known("v"), known("d_output")];
    for (name, options) in cases() {
        let answers = ["q", "k", "v"].map(|of| known(&format!("{name}.d_{of}")));
        for head in 0..2 {
            let of_head = |array: &Array3<f64>| array.index_axis(Axis(0), head).to_owned();
            let [q, k, v, d_output] = inputs.each_ref().map(of_head);
            let trace = Trace::new(q, k, v, options).unwrap();
            let made = trace.gradient(&d_output, options).unwrap();
            let [d_q, d_k, d_v] = answers.each_ref().map(of_head);
            assert_abs_diff_eq!(made.q, d_q, epsilon = 1e-14);
            assert_abs_diff_eq!(made.k, d_k, epsilon = 1e-14);
            assert_abs_diff_eq!(made.v, d_v, epsilon = 1e-14);
        }
    }
}

#[test]
fn many_heads_by_tiles() {
    let mut file = Known::open();
    let mut known = |name: &str| -> Array3<f64> { file.array(&format!("heads.{name}")) };
    let (q, k, v, d_output) = (known("q"), known("k"), known("v"), known("d_output"));
    for (name, options) in cases() {
        let output = heads::attend(&q, &k, &v, options).unwrap();
        assert_abs_diff_eq!(output, known(&format!("{name}.output")), epsilon = 1e-14);
        let made = heads::gradient(&q, &k, &v, &output, &d_output, options).unwrap();
        assert_abs_diff_eq!(made.q, known(&format!("{name}.d_q")), epsilon = 1e-14);
        assert_abs_diff_eq!(made.k, known(&format!("{name}.d_k")), epsilon = 1e-14);
        assert_abs_diff_eq!(made.v, known(&format!("{name}.d_v")), epsilon = 1e-14);
    }
}

#[test]
fn many_heads_in_f32() {
    let mut file = Known::open();
    let mut known = |name: &str| -> Array3<f64> { file.array(&format!("heads.{name}")) };
    let inputs = [known("q"), known("k"), known("v"), known("d_output")];
    let [q, k, v, d_output] = inputs.map(|array| array.mapv(|element| element as f32));
    let output = heads::attend(&q, &k, &v, Options::causal()).unwrap();
    let made = heads::gradient(&q, &k, &v, &output, &d_output, Options::causal()).unwrap();
    for (made, name) in [(made.q, "d_q"), (made.k, "d_k"), (made.v, "d_v")] {
        let answer = known(&format!("causal.{name}"));
        assert_abs_diff_eq!(made.mapv(f64::from), answer, epsilon = 5e-6);
    }
}
