//! Laws of the online softmax: it is the recipe, however the keys are split
//! and in whatever order the parts are merged.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use approx::assert_abs_diff_eq;
use attention::online::Partial;
use attention::recipe::{mix, softmax};
use ndarray::{Array1, Array2};
use proptest::prelude::*;

/// The size of a value.
const D_V: usize = 3;
/// Scores and values of some keys.
type Keys = Vec<(f64, [f64; D_V])>;

/// Up to so many keys; some of their scores are closed, some are large.
fn keys(most: usize) -> impl Strategy<Value = Keys> {
    let score = prop_oneof![
        6 => -50.0..50.0,
        1 => Just(f64::NEG_INFINITY),
        1 => -2000.0..2000.0,
    ];
    prop::collection::vec((score, prop::array::uniform3(-2.0..2.0)), 0..most)
}

/// The partial result of these keys, absorbed one by one.
fn absorbed(keys: &[(f64, [f64; D_V])]) -> Partial<f64> {
    let mut partial = Partial::empty(D_V).unwrap();
    for (score, value) in keys {
        partial.absorb(*score, &Array1::from(value.to_vec())).unwrap();
    }
    partial
}

/// What the recipe makes of them.
fn recipe(keys: &Keys) -> Array1<f64> {
    let scores = Array2::from_shape_fn((1, keys.len()), |(_, key)| keys[key].0);
    let values = Array2::from_shape_fn((keys.len(), D_V), |(key, i)| keys[key].1[i]);
    mix(&softmax(&scores), &values).unwrap().row(0).to_owned()
}

/// Equal up to rounding. Sum and output are sums of at most a few dozen terms,
/// each no larger than 2.
fn assert_alike(left: &Partial<f64>, right: &Partial<f64>) {
    assert_eq!(left.largest(), right.largest(), "the largest is never rounded");
    assert_abs_diff_eq!(left.sum(), right.sum(), epsilon = 1e-12);
    assert_abs_diff_eq!(left.output(), right.output(), epsilon = 1e-12);
}

proptest! {
    #[test]
    fn key_by_key_gives_what_the_row_gives(keys in keys(40)) {
        assert_abs_diff_eq!(absorbed(&keys).finish(), recipe(&keys), epsilon = 1e-12);
    }

    #[test]
    fn any_split_gives_what_the_row_gives(
        keys in keys(40),
        cuts in prop::collection::vec(0..40_usize, 0..6),
    ) {
        let mut ends: Vec<usize> = cuts.into_iter().map(|cut| cut.min(keys.len())).collect();
        ends.push(keys.len());
        ends.sort_unstable();
        let mut merged = Partial::empty(D_V).unwrap();
        let mut start = 0;
        for end in ends {
            merged = merged.merge(absorbed(&keys[start..end])).unwrap();
            start = end;
        }
        assert_abs_diff_eq!(merged.finish(), recipe(&keys), epsilon = 1e-12);
    }

    #[test]
    fn merging_is_associative(a in keys(9), b in keys(9), c in keys(9)) {
        let [a, b, c] = [&a, &b, &c].map(|keys| absorbed(keys));
        let left = a.clone().merge(b.clone()).unwrap().merge(c.clone()).unwrap();
        let right = a.merge(b.merge(c).unwrap()).unwrap();
        assert_alike(&left, &right);
    }

    #[test]
    fn merging_takes_no_side(a in keys(9), b in keys(9)) {
        let [a, b] = [&a, &b].map(|keys| absorbed(keys));
        prop_assert_eq!(a.clone().merge(b.clone()).unwrap(), b.merge(a).unwrap());
    }

    #[test]
    fn the_empty_result_changes_nothing(keys in keys(9)) {
        let (partial, empty) = (absorbed(&keys), Partial::empty(D_V).unwrap());
        prop_assert_eq!(&partial.clone().merge(empty.clone()).unwrap(), &partial);
        prop_assert_eq!(&empty.merge(partial.clone()).unwrap(), &partial);
    }

    #[test]
    fn absorbing_is_merging_with_a_single_key(keys in keys(9), score in -50.0..50.0) {
        let key = (score, [1.0, -2.0, 0.5]);
        let mut one_more = absorbed(&keys);
        one_more.absorb(key.0, &Array1::from(key.1.to_vec())).unwrap();
        assert_alike(&one_more, &absorbed(&keys).merge(absorbed(&[key])).unwrap());
    }

    #[test]
    fn a_tile_is_its_keys_one_by_one(before in keys(9), tile in keys(9)) {
        let mut at_once = absorbed(&before);
        let scores: Array1<f64> = tile.iter().map(|(score, _)| *score).collect();
        let values = Array2::from_shape_fn((tile.len(), D_V), |(key, i)| tile[key].1[i]);
        at_once.absorb_tile(&scores, &values).unwrap();
        assert_alike(&at_once, &absorbed(&[before, tile].concat()));
    }

    #[test]
    fn the_sum_is_at_least_one_once_a_key_is_open(keys in keys(40)) {
        let open = keys.iter().any(|(score, _)| *score > f64::NEG_INFINITY);
        let sum = absorbed(&keys).sum();
        prop_assert!(if open { sum >= 1.0 } else { sum == 0.0 }, "{sum}");
    }

    #[test]
    fn single_precision_gives_what_double_gives(keys in keys(40)) {
        let mut single = Partial::<f32>::empty(D_V).unwrap();
        for (score, value) in &keys {
            let value = value.map(|element| element as f32).to_vec();
            single.absorb(*score as f32, &Array1::from(value)).unwrap();
        }
        // A score of 2000 is off by up to 2⁻¹⁴ in single precision, and so
        // are the weights, relative to their size; the values stay below 2.
        let difference = single.finish().mapv(f64::from) - absorbed(&keys).finish();
        prop_assert!(difference.iter().all(|gap| gap.abs() < 1e-3), "{difference}");
    }
}
