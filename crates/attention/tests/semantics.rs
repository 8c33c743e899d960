//! The section *Semantics* of the crate's documentation, sentence by sentence,
//! for the recipe and for many heads: each case runs through both.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use approx::assert_relative_eq;
use attention::{Error, Mask, Options, Real, heads};
use ndarray::{Array3, ArrayRef3, Axis, s};

const INFINITY: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Attention by tiles, after a check that the recipe gives the same: the same
/// numbers up to rounding, and NaN and infinities in the same places.
fn attend<F: Real>(
    q: &ArrayRef3<F>,
    k: &ArrayRef3<F>,
    v: &ArrayRef3<F>,
    options: Options<F>,
) -> Array3<F> {
    let tiles = heads::attend(q, k, v, options).unwrap();
    let whole = heads::reference(q, k, v, options).unwrap();
    assert_eq!(tiles.dim(), whole.dim());
    for (&tiles, &whole) in tiles.iter().zip(&whole) {
        let [tiles, whole]: [f64; 2] = [tiles.into(), whole.into()];
        let near = (tiles - whole).abs() <= 1e-6 * whole.abs();
        assert!(near || tiles == whole || tiles.is_nan() && whole.is_nan(), "{tiles} {whole}");
    }
    tiles
}

/// One head whose queries are all 1 and whose keys are the scores themselves
/// (d = 1, so that the scale is 1).
fn with_scores(scores: &[f64], queries: usize) -> (Array3<f64>, Array3<f64>) {
    let keys = Array3::from_shape_vec((1, scores.len(), 1), scores.to_vec()).unwrap();
    (Array3::ones((1, queries, 1)), keys)
}

/// One head of values with d_v = 2: 1, 2, 3 ... and their hundredfold.
#[expect(clippy::doc_markdown, reason = "notation")]
fn counting(keys: usize) -> Array3<f64> {
    Array3::from_shape_fn((1, keys, 2), |(_, key, column)| (key + 1) as f64 * [1.0, 100.0][column])
}

/// The output of one query, for scores and counting values.
fn output_for(scores: &[f64]) -> Vec<f64> {
    let (q, k) = with_scores(scores, 1);
    attend(&q, &k, &counting(scores.len()), Options::full()).into_raw_vec_and_offset().0
}

/// Numbers that are all different, in no order.
fn varied(shape: (usize, usize, usize)) -> Array3<f64> {
    Array3::from_shape_fn(shape, |(h, i, j)| ((h * 31 + i * 17 + j * 7) % 13) as f64 / 5.0 - 1.0)
}

#[test]
fn empty_arrays_give_the_shape_of_the_formula() {
    // H, T_q, T_k, d, d_v, each 0 in turn, and all of them.
    let sizes = [
        [0, 3, 4, 5, 2],
        [2, 0, 4, 5, 3],
        [2, 3, 0, 5, 4],
        [2, 3, 4, 0, 5],
        [2, 3, 4, 5, 0],
        [0, 0, 0, 0, 0],
    ];
    for [heads, queries, keys, d, d_v] in sizes {
        for options in [Options::full(), Options::causal(), Options::masked(Mask::CausalFromStart)]
        {
            let (q, k) = (varied((heads, queries, d)), varied((heads, keys, d)));
            let output = attend(&q, &k, &varied((heads, keys, d_v)), options);
            assert_eq!(output.dim(), (heads, queries, d_v));
            assert!(output.iter().all(|element| element.is_finite()));
        }
    }
}

#[test]
fn no_keys_at_all_give_zeros() {
    let output =
        attend(&varied((2, 3, 5)), &varied((2, 0, 5)), &varied((2, 0, 4)), Options::full());
    assert_eq!(output, Array3::<f64>::zeros((2, 3, 4)));
}

#[test]
fn a_head_of_size_zero_averages_what_is_open() {
    let v = counting(4);
    let [q, k] = [Array3::zeros((1, 3, 0)), Array3::zeros((1, 4, 0))];
    let output = attend(&q, &k, &v, Options::causal());
    assert_relative_eq!(output.slice(s![0, .., 0]), ndarray::aview1(&[1.5, 2.0, 2.5]));
}

#[test]
fn one_token_attends_to_itself() {
    let v = varied((3, 1, 4));
    let output = attend(&varied((3, 1, 2)), &varied((3, 1, 2)), &v, Options::causal());
    assert_eq!(output, v);
}

#[test]
fn one_key_gives_its_value_to_every_query() {
    let v = varied((2, 1, 4));
    let output = attend(&varied((2, 70, 3)), &varied((2, 1, 3)), &v, Options::full());
    assert_eq!(output, v.broadcast((2, 70, 4)).unwrap());
}

#[test]
fn queries_before_every_key_get_zeros() {
    // 70 queries, 3 keys: two whole blocks of queries see nothing.
    let output =
        attend(&varied((2, 70, 5)), &varied((2, 3, 5)), &counting_heads(2, 3), Options::causal());
    let (blind, seeing) = output.view().split_at(Axis(1), 67);
    assert!(blind.iter().all(|&element| element == 0.0));
    assert!(seeing.iter().all(|&element| element >= 1.0));
}

/// Counting values for several heads.
fn counting_heads(heads: usize, keys: usize) -> Array3<f64> {
    counting(keys).broadcast((heads, keys, 2)).unwrap().to_owned()
}

#[test]
fn every_score_minus_infinity_gives_zeros() {
    assert_eq!(output_for(&[-INFINITY; 3]), [0.0, 0.0]);
    assert_eq!(output_for(&[-INFINITY; 130]), [0.0, 0.0]);
}

#[test]
fn a_score_of_minus_infinity_weighs_nothing() {
    assert_eq!(output_for(&[-INFINITY, 0.0, -INFINITY, 0.0]), [3.0, 300.0]);
    // A whole tile of them, before and after the one that counts.
    let mut scores = [-INFINITY; 200];
    scores[100] = -5.0;
    assert_eq!(output_for(&scores), [101.0, 10_100.0]);
}

#[test]
fn scores_of_infinity_share_equally() {
    assert_eq!(output_for(&[INFINITY, 7.0, INFINITY]), [2.0, 200.0]);
    // In different tiles, with larger and smaller company.
    let mut scores = [1.0; 200];
    scores[9] = INFINITY;
    scores[189] = INFINITY;
    assert_eq!(output_for(&scores), [100.0, 10_000.0]);
}

#[test]
fn a_nan_score_poisons_its_query_and_no_other() {
    for poisoned in [0, 40, 69] {
        let mut q = varied((2, 70, 3));
        q[[1, poisoned, 2]] = NAN;
        let output = attend(&q, &varied((2, 130, 3)), &varied((2, 130, 4)), Options::full());
        for (head, rows) in output.outer_iter().enumerate() {
            for (query, row) in rows.outer_iter().enumerate() {
                let expected = head == 1 && query == poisoned;
                assert!(row.iter().all(|element| element.is_nan() == expected), "{head} {query}");
            }
        }
    }
}

#[test]
fn a_nan_score_wins_over_infinite_ones() {
    assert!(output_for(&[NAN, INFINITY, -INFINITY]).iter().all(|element| element.is_nan()));
    assert!(output_for(&[-INFINITY, NAN]).iter().all(|element| element.is_nan()));
    let mut scores = [1.0; 200];
    scores[3] = NAN;
    scores[150] = 1e9;
    assert!(output_for(&scores).iter().all(|element| element.is_nan()));
}

#[test]
fn a_closed_key_never_leaks() {
    // 70 queries and keys: key 40 is closed to queries 0 to 39.
    let (q, k, v) = (varied((2, 70, 3)), varied((2, 70, 3)), varied((2, 70, 4)));
    let clean = attend(&q, &k, &v, Options::causal());
    for poison in [NAN, INFINITY, -INFINITY] {
        let (mut bad_k, mut bad_v) = (k.clone(), v.clone());
        bad_k.slice_mut(s![.., 40.., ..]).fill(poison);
        bad_v.slice_mut(s![.., 40.., ..]).fill(poison);
        let output = attend(&q, &bad_k, &bad_v, Options::causal());
        let before = s![.., ..40, ..];
        assert_eq!(output.slice(before), clean.slice(before), "{poison} leaked");
        assert_ne!(output, clean, "query 40 does see key 40");
    }
}

#[test]
fn a_row_with_infinite_scores_keeps_its_mask() {
    // Keys 5 and 60 score +∞: queries 5 to 59 see the first of them alone.
    let mut scores = [0.0; 70];
    (scores[5], scores[60]) = (INFINITY, INFINITY);
    let (q, k) = with_scores(&scores, 70);
    let output = attend(&q, &k, &counting(70), Options::causal());
    assert!(output.slice(s![0, 5..60, 0]).iter().all(|&element| element == 6.0));
    assert!(output.slice(s![0, 60.., 0]).iter().all(|&element| element == 33.5));
}

#[test]
fn a_weight_of_zero_takes_nothing_from_its_value() {
    // exp(−2000) is 0 in f64: the key is open, but its weight comes to nothing.
    for (far, near) in [(3, 150), (150, 3), (10, 11)] {
        let mut scores = [-INFINITY; 200];
        scores[far] = -2000.0;
        scores[near] = 0.0;
        let (q, k) = with_scores(&scores, 1);
        for poison in [NAN, INFINITY, -INFINITY] {
            let mut v = counting(200);
            v.slice_mut(s![0, far, ..]).fill(poison);
            let output = attend(&q, &k, &v, Options::full());
            assert_eq!(output[[0, 0, 0]], (near + 1) as f64);
        }
    }
}

#[test]
fn a_weight_that_vanishes_bit_by_bit_takes_nothing_either() {
    // Neither step of 500 makes exp vanish, both together do; in between, the
    // running sum holds NaN times a number above 0.
    let mut scores = [-INFINITY; 200];
    (scores[0], scores[70], scores[140]) = (-500.0, 0.0, 500.0);
    let (q, k) = with_scores(&scores, 1);
    let mut v = counting(200);
    v[[0, 0, 0]] = NAN;
    assert_eq!(attend(&q, &k, &v, Options::full())[[0, 0, 0]], 141.0);
}

#[test]
fn an_open_value_reaches_the_output_as_it_is() {
    let (q, k) = with_scores(&[0.0, 0.0, 1.0], 1);
    let mut v = counting(3);
    v[[0, 1, 0]] = INFINITY;
    v[[0, 2, 1]] = NAN;
    let output = attend(&q, &k, &v, Options::full());
    assert_eq!(output[[0, 0, 0]], INFINITY);
    assert!(output[[0, 0, 1]].is_nan());
    v[[0, 0, 0]] = -INFINITY;
    assert!(attend(&q, &k, &v, Options::full())[[0, 0, 0]].is_nan(), "∞ − ∞");
}

#[test]
fn values_near_the_largest_float_average_without_overflow() {
    let (q, k) = with_scores(&[0.0; 100], 2);
    let v = Array3::from_elem((1, 100, 3), 1.7e308);
    let output = attend(&q, &k, &v, Options::full());
    assert!(output.iter().all(|element| element.is_finite()), "{output}");
}

#[test]
fn subnormal_numbers_are_kept() {
    let smallest = f64::from_bits(1);
    let (q, k) = with_scores(&[0.0, 0.0], 1);
    let v = Array3::from_elem((1, 2, 3), 4.0 * smallest);
    assert_eq!(attend(&q, &k, &v, Options::full()), Array3::from_elem((1, 1, 3), 4.0 * smallest));
    // A subnormal weight, exp(−740) = 4.2e−322, of a value of 1e300.
    let (q, k) = with_scores(&[0.0, -740.0], 1);
    let v = Array3::from_shape_vec((1, 2, 1), vec![0.0, 1e300]).unwrap();
    let output = attend(&q, &k, &v, Options::full())[[0, 0, 0]];
    assert_relative_eq!(output, 4.2e-22, max_relative = 0.01);
}

#[test]
fn subnormal_numbers_are_kept_in_f32() {
    let smallest = f32::from_bits(1);
    // Two keys: a weight of 1/2 halves a subnormal number without rounding.
    let (q, k) = (Array3::ones((2, 3, 1)), Array3::ones((2, 2, 1)));
    let v = Array3::from_elem((2, 2, 5), 8.0 * smallest);
    let output = attend(&q, &k, &v, Options::full());
    assert_eq!(output, Array3::from_elem((2, 3, 5), 8.0 * smallest));
}

#[test]
fn scores_that_overflow_are_infinite() {
    // 1e200·1e200 = ∞, also where the scale would bring it back.
    let q = Array3::from_elem((1, 1, 1), 1e200);
    let k = Array3::from_shape_vec((1, 3, 1), vec![1e200, 1.0, 1e201]).unwrap();
    let output = attend(&q, &k, &counting(3), Options::full().with_scale(1e-200));
    assert_eq!(output[[0, 0, 0]], 2.0);
}

#[test]
fn a_scale_of_zero_averages_and_a_negative_one_reverses() {
    let (q, k) = with_scores(&[-900.0, 3.0, 900.0], 1);
    let v = counting(3);
    assert_relative_eq!(attend(&q, &k, &v, Options::full().with_scale(0.0))[[0, 0, 0]], 2.0);
    assert_relative_eq!(attend(&q, &k, &v, Options::full().with_scale(-1.0))[[0, 0, 0]], 1.0);
}

#[test]
fn shapes_that_do_not_fit_are_named() {
    let zeros = |heads, rows, columns| Array3::<f32>::zeros((heads, rows, columns));
    let q = zeros(3, 4, 6);
    let cases = [
        (
            zeros(2, 7, 6),
            zeros(3, 7, 5),
            "k has shape (2, 7, 6) but q has shape (3, 4, 6): \
          their first axes (heads H) must be equal",
        ),
        (
            zeros(3, 7, 5),
            zeros(3, 7, 5),
            "k has shape (3, 7, 5) but q has shape (3, 4, 6): \
          their last axes (head size d) must be equal",
        ),
        (
            zeros(3, 7, 6),
            zeros(2, 7, 5),
            "v has shape (2, 7, 5) but k has shape (3, 7, 6): \
          their first axes (heads H) must be equal",
        ),
        (
            zeros(3, 7, 6),
            zeros(3, 8, 5),
            "v has shape (3, 8, 5) but k has shape (3, 7, 6): \
          their second axes (keys T_k) must be equal",
        ),
    ];
    for (k, v, message) in cases {
        let error = heads::attend(&q, &k, &v, Options::full()).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(heads::reference(&q, &k, &v, Options::full()), Err(error));
    }
}

#[test]
fn a_scale_must_be_finite_even_with_nothing_to_do() {
    for array in [varied((2, 3, 4)), varied((0, 3, 4))] {
        for attend in [heads::attend::<f64>, heads::reference::<f64>] {
            let result = attend(&array, &array, &array, Options::full().with_scale(-INFINITY));
            assert_eq!(result, Err(Error::Scale(-INFINITY)));
        }
    }
}

#[test]
fn an_output_beyond_memory_is_an_error() {
    // Broadcast views: 2⁶⁰ queries, without the memory for one.
    let q = Array3::<f64>::zeros((1, 1, 1));
    let q = q.broadcast((1, 1 << 60, 1)).unwrap();
    let v = Array3::<f64>::zeros((1, 1, 2));
    let error = heads::attend(&q, &v.slice(s![.., .., ..1]), &v, Options::full()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the output of shape (1, 1152921504606846976, 2) cannot be allocated: \
         there is not enough memory"
    );
}

#[test]
fn blocks_beyond_memory_are_an_error() {
    // A head size of 2⁵⁶ is more than any block of queries can hold.
    let one = Array3::<f64>::zeros((1, 1, 1));
    for (queries, block) in [(1, "a few queries"), (5, "a block of queries")] {
        let q = one.broadcast((1, queries, 1 << 56)).unwrap();
        let k = one.broadcast((1, 1, 1 << 56)).unwrap();
        match heads::attend(&q, &k, &one, Options::full()) {
            Err(Error::TooLarge { array, .. }) => assert_eq!(array, block),
            other => panic!("{other:?}"),
        }
    }
}
