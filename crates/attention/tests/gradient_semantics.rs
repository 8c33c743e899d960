//! What the backward pass means at the edges: nothing leaks through an exact 0,
//! empty arrays are fine, wrong shapes are named, and bits do not depend on layout.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use attention::gradient::{self, TraceGradient};
use attention::{Error, Head, Mask, Options, Trace};
use ndarray::{Array2, array, s};

const NAN: f64 = f64::NAN;
const INFINITY: f64 = f64::INFINITY;

/// Numbers that are all different, in no order.
fn varied(rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| ((i * 17 + j * 7) % 13) as f64 / 5.0 - 1.0)
}

/// The gradients of attention for the matrices given.
fn through(
    [q, k, v, d_output]: [Array2<f64>; 4],
    options: Options<f64>,
) -> Result<TraceGradient<f64>, Error> {
    Trace::new(q, k, v, options)?.gradient(&d_output, options)
}

/// `T_q` = `T_k` = 4, d = 3, `d_v` = 2.
fn square() -> [Array2<f64>; 4] {
    [varied(4, 3), varied(4, 3) * 0.5, varied(4, 2), varied(4, 2) * 2.0]
}

#[test]
fn a_closed_key_leaks_nothing() {
    // No query but the last sees the last key, and the loss does not depend on the last.
    for poison in [NAN, INFINITY, -INFINITY] {
        let [q, mut k, mut v, mut d_output] = square();
        d_output.row_mut(3).fill(0.0);
        let clean = [q.clone(), k.clone(), v.clone(), d_output.clone()];
        let clean = through(clean, Options::causal()).unwrap();
        k.row_mut(3).fill(poison);
        v.row_mut(3).fill(poison);
        let poisoned = through([q, k, v, d_output], Options::causal()).unwrap();
        assert_eq!(poisoned.q, clean.q);
        assert_eq!(poisoned.k, clean.k);
        assert_eq!(poisoned.v, clean.v);
        assert!(clean.k.row(3).iter().chain(clean.v.row(3)).all(|&entry| entry == 0.0));
    }
}

#[test]
fn an_output_that_does_not_count_leaks_nothing() {
    let [mut q, k, v, mut d_output] = square();
    d_output.row_mut(1).fill(0.0);
    let clean = [q.clone(), k.clone(), v.clone(), d_output.clone()];
    let clean = through(clean, Options::full()).unwrap();
    q.row_mut(1).fill(NAN);
    let poisoned = through([q, k, v, d_output], Options::full()).unwrap();
    assert_eq!((poisoned.q, poisoned.k, poisoned.v), (clean.q, clean.k, clean.v));
}

#[test]
fn a_nan_that_counts_is_seen_where_it_counts() {
    let [mut q, k, v, d_output] = square();
    q.row_mut(1).fill(NAN);
    let gradient = through([q, k, v, d_output], Options::causal()).unwrap();
    assert!(gradient.q.row(1).iter().all(|entry| entry.is_nan()));
    assert!(gradient.q.slice(s![2.., ..]).iter().all(|entry| entry.is_finite()));
    // The second query sees two keys: these it moves, and no others.
    assert!(gradient.k.slice(s![..2, ..]).iter().all(|entry| entry.is_nan()));
    assert!(gradient.k.slice(s![2.., ..]).iter().all(|entry| entry.is_finite()));
}

#[test]
fn queries_before_every_key_have_no_gradient() {
    let matrices = [varied(5, 3), varied(2, 3), varied(2, 4), varied(5, 4)];
    let gradient = through(matrices, Options::causal()).unwrap();
    assert_eq!(gradient.q.slice(s![..3, ..]), Array2::<f64>::zeros((3, 3)));
    assert!(gradient.q.row(4).iter().any(|&entry| entry != 0.0));
}

#[test]
fn one_token_learns_nothing_about_where_to_look() {
    let matrices = [varied(1, 3), varied(1, 3), varied(1, 2), varied(1, 2)];
    let gradient = through(matrices, Options::causal()).unwrap();
    assert_eq!(gradient.q, Array2::<f64>::zeros((1, 3)));
    assert_eq!(gradient.k, Array2::<f64>::zeros((1, 3)));
    assert_eq!(gradient.v, gradient.output);
}

#[test]
fn a_saturated_row_passes_nothing_to_its_scores() {
    let gradient = gradient::softmax(&array![[1.0, 0.0, 0.0]], &array![[3.0, 7.0, NAN]]);
    assert_eq!(gradient, Ok(array![[0.0, 0.0, 0.0]]));
}

#[test]
fn empty_arrays_give_the_shape_of_the_formula() {
    // T_q, T_k, d, d_v, each 0 in turn, and all of them.
    for [queries, keys, d, d_v] in
        [[0, 4, 5, 2], [3, 0, 5, 4], [3, 4, 0, 5], [3, 4, 5, 0], [0, 0, 0, 0]]
    {
        for mask in [Mask::Full, Mask::Causal, Mask::CausalFromStart] {
            let matrices = [(queries, d), (keys, d), (keys, d_v), (queries, d_v)];
            let matrices = matrices.map(|(rows, columns)| varied(rows, columns));
            let gradient = through(matrices, Options::masked(mask)).unwrap();
            assert_eq!(gradient.q.dim(), (queries, d));
            assert_eq!(gradient.k.dim(), (keys, d));
            assert_eq!(gradient.v.dim(), (keys, d_v));
            assert_eq!(gradient.scores.dim(), (queries, keys));
            let all = gradient.q.iter().chain(&gradient.k).chain(&gradient.v);
            assert!(all.into_iter().all(|entry| entry.is_finite()));
        }
    }
}

#[test]
fn no_tokens_give_no_gradient_to_the_weights() {
    let head = Head::new(varied(4, 3), varied(4, 3), varied(4, 2)).unwrap();
    let (x, options) = (varied(0, 4), Options::causal());
    let trace = head.trace(&x, options).unwrap();
    let gradient = head.gradient(&x, &trace, &varied(0, 2), options).unwrap();
    assert_eq!(gradient.w_q, Array2::<f64>::zeros((4, 3)));
    assert_eq!(gradient.w_v, Array2::<f64>::zeros((4, 2)));
}

#[test]
fn shapes_that_do_not_fit_are_named() {
    let (tall, wide) = (varied(5, 4), varied(3, 2));
    let messages = [
        gradient::mix(&tall, &wide, &tall).unwrap_err().to_string(),
        gradient::softmax(&tall, &wide).unwrap_err().to_string(),
        gradient::score(&tall, &tall, &wide).unwrap_err().to_string(),
        gradient::project(&tall, &tall.t(), &wide).unwrap_err().to_string(),
    ];
    assert_eq!(
        messages,
        [
            "values has shape (3, 2) but weights has shape (5, 4): \
             the rows of values and the columns of weights (keys T_k) must be equal",
            "d_weights has shape (3, 2) but weights has shape (5, 4): \
             their rows (queries T_q) must be equal",
            "d_scores has shape (3, 2) but queries has shape (5, 4): \
             their rows (queries T_q) must be equal",
            "d_projection has shape (3, 2) but x has shape (5, 4): \
             their rows (tokens T) must be equal",
        ]
    );
}

#[test]
fn a_gradient_of_another_shape_than_the_output_is_named() {
    let [q, k, v, _] = square();
    let message = |rows, columns| {
        let d_output = varied(rows, columns);
        let matrices = [q.clone(), k.clone(), v.clone(), d_output];
        through(matrices, Options::full()).unwrap_err().to_string()
    };
    assert_eq!(
        message(3, 2),
        "d_output has shape (3, 2) but the output has shape (4, 2): \
         their rows (queries T_q) must be equal"
    );
    assert!(message(4, 3).ends_with("their last axes (value size d_v) must be equal"));
}

#[test]
fn tokens_and_trace_of_different_texts_are_named() {
    let head = Head::new(varied(4, 3), varied(4, 3), varied(4, 2)).unwrap();
    let options = Options::causal();
    let trace = head.trace(&varied(5, 4), options).unwrap();
    let error = head.gradient(&varied(6, 4), &trace, &varied(5, 2), options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "d_projection has shape (5, 3) but x has shape (6, 4): their rows (tokens T) must be equal"
    );
}

#[test]
fn a_scale_must_be_finite() {
    let [q, k, v, d_output] = square();
    let trace = Trace::new(q, k, v, Options::full()).unwrap();
    let error = trace.gradient(&d_output, Options::full().with_scale(NAN)).unwrap_err();
    assert!(matches!(error, Error::Scale(scale) if scale.is_nan()));
}

#[test]
fn gradients_beyond_memory_are_an_error() {
    // A broadcast view is as long as you like and takes no memory itself.
    let one = Array2::<f64>::zeros((1, 1));
    let long = one.broadcast((1, 1 << 31)).unwrap();
    let d_output = one.broadcast((1 << 31, 1)).unwrap();
    let weights = one.broadcast((1 << 31, 1 << 31)).unwrap();
    assert_eq!(
        gradient::mix(&weights, &long.t(), &d_output).unwrap_err().to_string(),
        "the gradient of the weights of shape (2147483648, 2147483648) cannot be allocated: \
         there is not enough memory"
    );
}

#[test]
fn views_of_any_layout_give_the_same_bits() {
    let storage = varied(8, 12);
    let view = storage.slice(s![..;2, ..;-3]);
    let owned = view.to_owned();
    assert_eq!(gradient::mix(&view, &view, &view), gradient::mix(&owned, &owned, &owned));
    assert_eq!(gradient::softmax(&view, &view), gradient::softmax(&owned, &owned));
    assert_eq!(gradient::score(&view, &view, &view), gradient::score(&owned, &owned, &owned));
    assert_eq!(gradient::project(&view, &view, &view), gradient::project(&owned, &owned, &owned));
    assert_eq!(gradient::mask(&view, Mask::Causal), gradient::mask(&owned, Mask::Causal));
}
