//! What must hold for every input: laws of softmax and of attention, and the
//! fast path against the recipe. Sizes straddle the blocks and all differ.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use approx::{assert_abs_diff_eq, assert_relative_eq};
use attention::recipe::{self, softmax};
use attention::{Mask, Options, heads};
use ndarray::{Array2, Array3, ArrayRef3, Axis, s};
use proptest::prelude::*;

/// Shapes of one problem: H, `T_q`, `T_k`, d and `d_v`.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    heads: usize,
    queries: usize,
    keys: usize,
    d: usize,
    d_v: usize,
}

/// Queries, keys and values.
type Qkv = (Array3<f64>, Array3<f64>, Array3<f64>);

impl Sizes {
    /// Numbers between −2 and 2, the same for the same seed: a linear
    /// congruential generator with Knuth's MMIX constants.
    fn fill(self, seed: u64) -> Qkv {
        let mut state = seed;
        let mut next = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / f64::from(1 << 22) - 2.0
        };
        let Sizes { heads, queries, keys, d, d_v } = self;
        let mut array = |shape| Array3::from_shape_simple_fn(shape, &mut next);
        (array((heads, queries, d)), array((heads, keys, d)), array((heads, keys, d_v)))
    }
}

/// Sizes on both sides of the blocks of 32 queries and tiles of 64 keys.
fn sizes() -> impl Strategy<Value = Sizes> {
    let queries = prop_oneof![0..4_usize, 30..35_usize, 60..70_usize];
    let keys = prop_oneof![0..4_usize, 61..68_usize, 125..135_usize];
    (0..4_usize, queries, keys, 0..6_usize, 0..8_usize)
        .prop_map(|(heads, queries, keys, d, d_v)| Sizes { heads, queries, keys, d, d_v })
}

/// Sizes and numbers to fill them.
fn problem() -> impl Strategy<Value = Qkv> {
    (sizes(), any::<u64>()).prop_map(|(sizes, seed)| sizes.fill(seed))
}

fn options() -> impl Strategy<Value = Options<f64>> {
    let masks = prop_oneof![Just(Mask::Full), Just(Mask::Causal), Just(Mask::CausalFromStart)];
    let scale = prop::option::of(-2.0..2.0);
    (masks, scale).prop_map(|(mask, scale)| Options { mask, scale })
}

/// A matrix of scores, some of them closed.
fn scores() -> impl Strategy<Value = Array2<f64>> {
    let score = prop_oneof![4 => -50.0..50.0, 1 => Just(f64::NEG_INFINITY)];
    (1..5_usize, 1..9_usize).prop_flat_map(move |shape| {
        prop::collection::vec(score.clone(), shape.0 * shape.1)
            .prop_map(move |elements| Array2::from_shape_vec(shape, elements).unwrap())
    })
}

/// The same array, every second element of storage that runs backwards.
fn scattered(array: &ArrayRef3<f64>) -> Array3<f64> {
    let (heads, rows, columns) = array.dim();
    let mut storage = Array3::from_elem((columns * 2, rows, heads * 2), f64::NAN);
    storage.slice_mut(s![..;-2, .., ..;2]).assign(&array.t());
    storage
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn weights_sum_to_one_or_the_row_is_closed(scores in scores()) {
        for (row, weights) in scores.outer_iter().zip(softmax(&scores).outer_iter()) {
            let closed = row.iter().all(|&score| score == f64::NEG_INFINITY);
            assert_abs_diff_eq!(weights.sum(), if closed { 0.0 } else { 1.0 }, epsilon = 1e-14);
            prop_assert!(weights.iter().all(|weight| (0.0..=1.0).contains(weight)));
        }
    }

    #[test]
    fn a_constant_added_to_scores_changes_no_weight(scores in scores(), constant in -99.0..99.0) {
        let shifted = softmax(&scores.mapv(|score| score + constant));
        assert_relative_eq!(shifted, softmax(&scores), max_relative = 1e-12);
    }

    #[test]
    fn tiles_give_what_the_whole_gives((q, k, v) in problem(), options in options()) {
        let tiles = heads::attend(&q, &k, &v, options).unwrap();
        let whole = heads::reference(&q, &k, &v, options).unwrap();
        prop_assert_eq!(tiles.dim(), (q.dim().0, q.dim().1, v.dim().2));
        assert_abs_diff_eq!(tiles, whole, epsilon = 1e-12);
    }

    #[test]
    fn f32_gives_what_f64_gives((q, k, v) in problem(), options in options()) {
        let [q32, k32, v32] = [&q, &k, &v].map(|array| array.mapv(|element| element as f32));
        let scale = options.scale.map(|scale| scale as f32);
        let single = heads::attend(&q32, &k32, &v32, Options { mask: options.mask, scale }).unwrap();
        let double = heads::attend(&q, &k, &v, options).unwrap();
        // Scores stay below 5·2·2·2 = 40, with a relative error of a few 2⁻²⁴:
        // a weight errs by some 40·2⁻²⁴ of itself, and values stay below 2.
        assert_abs_diff_eq!(single.mapv(f64::from), double, epsilon = 2e-5);
    }

    #[test]
    fn views_give_the_bits_of_what_they_show((q, k, v) in problem(), options in options()) {
        let owned = heads::attend(&q, &k, &v, options).unwrap();
        let [q, k, v] = [&q, &k, &v].map(|array| scattered(array));
        let [q, k, v] = [&q, &k, &v].map(|storage| storage.slice(s![..;-2, .., ..;2]).reversed_axes());
        prop_assert_eq!(heads::attend(&q, &k, &v, options).unwrap(), owned);
    }

    #[test]
    fn keys_and_values_may_change_places_together((q, k, v) in problem(), turn in 0..200_usize) {
        let keys = k.len_of(Axis(1));
        let order: Vec<usize> = (0..keys).map(|key| (key + turn) % keys).rev().collect();
        let [k2, v2] = [&k, &v].map(|array| array.select(Axis(1), &order));
        let changed = heads::attend(&q, &k2, &v2, Options::full()).unwrap();
        let original = heads::attend(&q, &k, &v, Options::full()).unwrap();
        assert_abs_diff_eq!(changed, original, epsilon = 1e-12);
    }

    #[test]
    fn a_mask_gives_what_shorter_keys_give((q, k, v) in problem(), options in options()) {
        // Row by row: the causal rows, from the definition of the mask.
        let (queries, keys) = (q.len_of(Axis(1)), k.len_of(Axis(1)));
        let masked = heads::attend(&q, &k, &v, options).unwrap();
        for query in 0..queries {
            let open = match options.mask {
                Mask::Causal => (query + 1 + keys).saturating_sub(queries),
                Mask::CausalFromStart => keys.min(query + 1),
                _ => keys,
            };
            let unmasked = Options { mask: Mask::Full, ..options };
            let alone = heads::reference(
                &q.slice(s![.., query..=query, ..]),
                &k.slice(s![.., ..open, ..]),
                &v.slice(s![.., ..open, ..]),
                unmasked,
            );
            assert_abs_diff_eq!(masked.slice(s![.., query..=query, ..]), alone.unwrap(), epsilon = 1e-12);
        }
    }

    #[test]
    fn an_average_stays_between_its_values((q, k, v) in problem()) {
        let output = heads::attend(&q, &k, &v, Options::full()).unwrap();
        if k.len_of(Axis(1)) > 0 {
            for (rows, values) in output.outer_iter().zip(v.outer_iter()) {
                for (column, values) in rows.columns().into_iter().zip(values.columns()) {
                    let least = values.fold(f64::INFINITY, |a, &b| a.min(b));
                    let most = values.fold(f64::NEG_INFINITY, |a, &b| a.max(b));
                    let between = least - 1e-12..=most + 1e-12;
                    prop_assert!(column.iter().all(|element| between.contains(element)));
                }
            }
        } else {
            prop_assert!(output.iter().all(|&element| element == 0.0));
        }
    }

    #[test]
    fn heads_do_not_meet((q, k, v) in problem(), options in options()) {
        let together = heads::attend(&q, &k, &v, options).unwrap();
        for head in 0..q.len_of(Axis(0)) {
            let alone = [&q, &k, &v].map(|array| array.index_axis(Axis(0), head));
            let [q, k, v] = &alone;
            let alone = recipe::attend(q, k, v, options).unwrap();
            assert_abs_diff_eq!(together.index_axis(Axis(0), head), alone, epsilon = 1e-12);
        }
    }
}

#[test]
fn many_tiles_give_what_the_whole_gives() {
    // Longer than the properties above can afford, with scores large enough
    // that the largest so far changes again and again.
    let sizes = Sizes { heads: 2, queries: 77, keys: 701, d: 5, d_v: 3 };
    let (q, k, v) = sizes.fill(7);
    for mask in [Mask::Full, Mask::Causal, Mask::CausalFromStart] {
        let options = Options::masked(mask).with_scale(30.0);
        let tiles = heads::attend(&q, &k, &v, options).unwrap();
        let whole = heads::reference(&q, &k, &v, options).unwrap();
        assert_abs_diff_eq!(tiles, whole, epsilon = 1e-12);
    }
}

#[cfg(feature = "rayon")]
#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let sizes = Sizes { heads: 3, queries: 101, keys: 131, d: 5, d_v: 4 };
    let (q, k, v) = sizes.fill(11);
    for options in [Options::full(), Options::causal()] {
        let bits = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let output = pool.install(|| heads::attend(&q, &k, &v, options)).unwrap();
            output.mapv(f64::to_bits)
        };
        let one = bits(1);
        for threads in [2, 3, 7] {
            assert_eq!(bits(threads), one, "{threads} threads");
        }
    }
}
