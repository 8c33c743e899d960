//! Tiles of any size give what the recipe gives, and compute each open score once.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use approx::assert_abs_diff_eq;
use attention::tiles::{Kind, Size, all, attend, trace};
use attention::{Mask, Options, recipe};
use ndarray::{Array2, s};
use proptest::prelude::*;

/// A matrix of numbers between −2 and 2.
fn matrix(rows: usize, columns: usize) -> impl Strategy<Value = Array2<f64>> {
    prop::collection::vec(-2.0..2.0, rows * columns)
        .prop_map(move |elements| Array2::from_shape_vec((rows, columns), elements).unwrap())
}

/// Queries, keys and values; every size may be 0.
fn problem() -> impl Strategy<Value = (Array2<f64>, Array2<f64>, Array2<f64>)> {
    (0..12_usize, 0..14_usize, 0..5_usize, 0..4_usize)
        .prop_flat_map(|(t_q, t_k, d, d_v)| (matrix(t_q, d), matrix(t_k, d), matrix(t_k, d_v)))
}

fn masks() -> impl Strategy<Value = Mask> {
    prop_oneof![Just(Mask::Full), Just(Mask::Causal), Just(Mask::CausalFromStart)]
}

fn sizes() -> impl Strategy<Value = Size> {
    (1..16_usize, 1..16_usize).prop_map(|(queries, keys)| Size::new(queries, keys).unwrap())
}

proptest! {
    #[test]
    fn tiles_of_any_size_give_what_the_recipe_gives(
        (q, k, v) in problem(),
        mask in masks(),
        scale in prop::option::of(-9.0..9.0),
        size in sizes(),
    ) {
        let options = Options { mask, scale };
        let whole = recipe::attend(&q, &k, &v, options).unwrap();
        assert_abs_diff_eq!(attend(&q, &k, &v, options, size).unwrap(), whole, epsilon = 1e-12);
    }

    #[test]
    fn special_scores_mean_what_they_mean_to_the_recipe(
        (mut q, mut k, v) in problem(),
        mask in masks(),
        size in sizes(),
        specials in prop::collection::vec((any::<bool>(), 0..99_usize, 0..4_usize), 0..4),
    ) {
        for (in_query, row, special) in specials {
            let array = if in_query { &mut q } else { &mut k };
            let number = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300][special];
            let rows = array.nrows();
            if rows > 0 {
                array.slice_mut(s![row % rows, ..]).fill(number);
            }
        }
        let whole = recipe::attend(&q, &k, &v, Options::masked(mask)).unwrap();
        let tiled = attend(&q, &k, &v, Options::masked(mask), size).unwrap();
        for (tiled, whole) in tiled.iter().zip(&whole) {
            let alike = tiled.is_nan() && whole.is_nan() || (tiled - whole).abs() < 1e-12;
            prop_assert!(alike, "{tiled} is not {whole}");
        }
    }

    #[test]
    fn each_open_score_is_in_one_tile_that_is_computed(
        queries in 0..20_usize,
        keys in 0..20_usize,
        mask in masks(),
        size in sizes(),
    ) {
        let mut covered = Array2::<usize>::zeros((queries, keys));
        for tile in all(mask, queries, keys, size) {
            let open = |query| tile.keys.clone().filter(move |&key| mask.allows(query, key, queries, keys));
            let open: usize = tile.queries.clone().map(|query| open(query).count()).sum();
            let entries = tile.queries.len() * tile.keys.len();
            prop_assert_eq!(tile.kind == Kind::Skipped, open == 0, "{:?}", tile);
            prop_assert_eq!(tile.kind == Kind::Whole, open == entries, "{:?}", tile);
            covered.slice_mut(s![tile.queries, tile.keys]).mapv_inplace(|times| times + 1);
        }
        prop_assert!(covered.iter().all(|&times| times == 1));
    }

    #[test]
    fn no_tile_is_larger_than_asked_for((q, k, v) in problem(), mask in masks(), size in sizes()) {
        let (output, steps) = trace(&q, &k, &v, Options::masked(mask), size).unwrap();
        prop_assert_eq!(output, attend(&q, &k, &v, Options::masked(mask), size).unwrap());
        let computed = all(mask, q.nrows(), k.nrows(), size).filter(|tile| tile.kind != Kind::Skipped);
        let tiles: Vec<_> = steps.iter().map(|step| step.tile.clone()).collect();
        prop_assert_eq!(tiles, computed.collect::<Vec<_>>());
        for step in &steps {
            let shape = (step.tile.queries.len(), step.tile.keys.len());
            prop_assert_eq!(step.scores.dim(), shape);
            prop_assert_eq!(step.partials.len(), shape.0);
        }
    }
}
