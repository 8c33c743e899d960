//! The backward pass of many heads, by tiles: held against the recipe's, for every
//! set of instructions that this processor has. Sizes straddle the tiles and differ.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use approx::assert_abs_diff_eq;
use attention::heads::{self, Forward, Gradient, Instructions};
use attention::{Error, Mask, Options, Real, Trace};
use ndarray::{Array3, ArrayRef3, Axis, s};
use proptest::prelude::*;

const NAN: f64 = f64::NAN;
const INFINITY: f64 = f64::INFINITY;

/// Queries, keys, values and the gradient of the output.
type Matrices<F> = [Array3<F>; 4];

/// H, `T_q`, `T_k`, d and `d_v`.
type Sizes = [usize; 5];

/// Numbers between −1 and 1, the same for the same seed: a linear congruential
/// generator with Knuth's MMIX constants.
fn fill([heads, queries, keys, d, d_v]: Sizes, seed: u64) -> Matrices<f64> {
    let mut state = seed;
    let mut next = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 23) - 1.0
    };
    [(queries, d), (keys, d), (keys, d_v), (queries, d_v)]
        .map(|(rows, columns)| Array3::from_shape_simple_fn((heads, rows, columns), &mut next))
}

/// The recipe's gradients, one head at a time.
fn by_the_recipe<F: Real>([q, k, v, d_output]: &Matrices<F>, options: Options<F>) -> Gradient<F> {
    let mut gradient = Gradient {
        q: Array3::zeros(q.raw_dim()),
        k: Array3::zeros(k.raw_dim()),
        v: Array3::zeros(v.raw_dim()),
    };
    for head in 0..q.len_of(Axis(0)) {
        let of_head = |array: &Array3<F>| array.index_axis(Axis(0), head).to_owned();
        let trace = Trace::new(of_head(q), of_head(k), of_head(v), options).unwrap();
        let made = trace.gradient(&of_head(d_output), options).unwrap();
        gradient.q.index_axis_mut(Axis(0), head).assign(&made.q);
        gradient.k.index_axis_mut(Axis(0), head).assign(&made.k);
        gradient.v.index_axis_mut(Axis(0), head).assign(&made.v);
    }
    gradient
}

/// The gradients by tiles.
fn by_tiles<F: Real>(
    instructions: Instructions,
    [q, k, v, d_output]: &Matrices<F>,
    options: Options<F>,
) -> Gradient<F> {
    let output = heads::attend(q, k, v, options).unwrap();
    heads::gradient_on(instructions, q, k, v, &output, d_output, options).unwrap()
}

/// Demands that numbers agree up to rounding, and that NaN and infinities stand in
/// the same places.
fn assert_alike<F: Real>(made: &ArrayRef3<F>, expected: &ArrayRef3<F>, epsilon: f64) {
    assert_eq!(made.dim(), expected.dim());
    for (place, (&made, &expected)) in made.iter().zip(expected).enumerate() {
        let [made, expected]: [f64; 2] = [made.into(), expected.into()];
        let near = (made - expected).abs() <= epsilon;
        let alike = near || made == expected || made.is_nan() && expected.is_nan();
        assert!(alike, "at {place}: {made}, but the recipe gives {expected}");
    }
}

/// The bits of a gradient.
fn bits<F: Real>(gradient: &Gradient<F>) -> [Vec<u64>; 3] {
    [&gradient.q, &gradient.k, &gradient.v]
        .map(|array| array.iter().map(|&element| Into::<f64>::into(element).to_bits()).collect())
}

/// What is kept from the forward pass gives the bits of what is made again.
fn assert_keeping_changes_nothing<F: Real>(matrices: &Matrices<F>, options: Options<F>) {
    let [q, k, v, d_output] = matrices;
    for instructions in Instructions::available() {
        let forward = Forward::new_on(instructions, q, k, v, options).unwrap();
        let kept = forward.gradient(d_output).unwrap();
        let output = &forward.output;
        let made_again =
            heads::gradient_on(instructions, q, k, v, output, d_output, options).unwrap();
        assert_eq!(bits(&kept), bits(&made_again), "{instructions}");
    }
}

/// Every set of instructions gives what the recipe gives.
fn assert_all_alike<F: Real>(matrices: &Matrices<F>, options: Options<F>, epsilon: f64) {
    let expected = by_the_recipe(matrices, options);
    for instructions in Instructions::available() {
        let made = by_tiles(instructions, matrices, options);
        assert_alike(&made.q, &expected.q, epsilon);
        assert_alike(&made.k, &expected.k, epsilon);
        assert_alike(&made.v, &expected.v, epsilon);
    }
}

/// Sizes on both sides of panels of up to 64 queries and tiles of 128 keys.
fn sizes() -> impl Strategy<Value = Sizes> {
    let queries = prop_oneof![0..4_usize, 14..19_usize, 60..70_usize, 125..132_usize];
    let keys = prop_oneof![0..4_usize, 14..19_usize, 125..132_usize];
    let d = prop_oneof![0..6_usize, 15..18_usize];
    let d_v = prop_oneof![0..6_usize, 31..34_usize];
    (0..4_usize, queries, keys, d, d_v).prop_map(<[usize; 5]>::from)
}

fn options() -> impl Strategy<Value = Options<f64>> {
    let masks = prop_oneof![Just(Mask::Full), Just(Mask::Causal), Just(Mask::CausalFromStart)];
    let scale = prop::option::of(prop_oneof![4 => -2.0..2.0, 1 => Just(0.0)]);
    (masks, scale).prop_map(|(mask, scale)| Options { mask, scale })
}

fn narrow(matrices: &Matrices<f64>) -> Matrices<f32> {
    matrices.each_ref().map(|array| array.mapv(|element| element as f32))
}

proptest! {
    #[test]
    fn tiles_give_what_the_recipe_gives(sizes in sizes(), options in options(), seed: u64) {
        assert_all_alike(&fill(sizes, seed), options, 1e-12);
    }

    #[test]
    fn what_is_kept_gives_what_is_made_again(sizes in sizes(), options in options(), seed: u64) {
        let matrices = fill(sizes, seed);
        assert_keeping_changes_nothing(&matrices, options);
        let scale = options.scale.map(|scale| scale as f32);
        assert_keeping_changes_nothing(&narrow(&matrices), Options { mask: options.mask, scale });
    }

    #[test]
    fn forward_gives_what_attend_gives(sizes in sizes(), options in options(), seed: u64) {
        let [q, k, v, _] = &fill(sizes, seed);
        let forward = Forward::new(q, k, v, options).unwrap();
        let output = heads::attend(q, k, v, options).unwrap();
        if sizes[1] > 4 {
            prop_assert_eq!(forward.output, output);
        } else {
            assert_alike(&forward.output, &output, 1e-12);
        }
    }

    #[test]
    fn f32_gives_what_f64_gives(sizes in sizes(), options in options(), seed: u64) {
        let matrices = fill(sizes, seed);
        let expected = by_the_recipe(&matrices, options);
        let scale = options.scale.map(|scale| scale as f32);
        let options = Options { mask: options.mask, scale };
        // Sums of at most 132 terms below 35·2, each with a relative error of some
        // 2⁻²², of which most go either way.
        for instructions in Instructions::available() {
            let made = by_tiles(instructions, &narrow(&matrices), options);
            assert_abs_diff_eq!(made.q.mapv(f64::from), expected.q, epsilon = 2e-4);
            assert_abs_diff_eq!(made.k.mapv(f64::from), expected.k, epsilon = 2e-4);
            assert_abs_diff_eq!(made.v.mapv(f64::from), expected.v, epsilon = 2e-4);
        }
    }

    #[test]
    fn views_give_the_bits_of_what_they_show(sizes in sizes(), options in options(), seed: u64) {
        let matrices = fill(sizes, seed);
        let [q, k, v, d_output] = &matrices;
        let owned = by_tiles(Instructions::best(), &matrices, options);
        let output = heads::attend(q, k, v, options).unwrap();
        let stored = [q, k, v, &output, d_output].map(|array| {
            let mut storage = Array3::from_elem((array.dim().2, array.dim().1 * 2, array.dim().0), NAN);
            storage.slice_mut(s![.., ..;-2, ..]).assign(&array.view().reversed_axes());
            storage
        });
        let [q, k, v, output, d_output] =
            stored.each_ref().map(|storage| storage.slice(s![.., ..;-2, ..]).reversed_axes());
        let seen = heads::gradient(&q, &k, &v, &output, &d_output, options).unwrap();
        prop_assert_eq!(seen, owned);
    }
}

#[test]
fn many_tiles_and_parts_give_what_the_whole_gives() {
    // Longer than the properties above can afford: four parts of keys.
    let matrices = fill([2, 301, 1037, 5, 3], 7);
    for mask in [Mask::Full, Mask::Causal, Mask::CausalFromStart] {
        assert_all_alike(&matrices, Options::masked(mask).with_scale(9.0), 1e-11);
    }
}

#[test]
fn parts_that_most_queries_do_not_see_give_what_the_whole_gives() {
    // Four parts of keys; more queries than one job adds up, whose first see nothing.
    let matrices = fill([1, 1301, 1037, 2, 3], 7);
    for mask in [Mask::Full, Mask::Causal, Mask::CausalFromStart] {
        assert_all_alike(&matrices, Options::masked(mask), 1e-11);
    }
}

#[test]
fn wide_heads_give_what_the_recipe_gives() {
    // Components are gone through 64 at a time. Of such keys 64 stand in panels at a
    // time, so that each of the two parts is swept several times.
    let matrices = fill([1, 70, 520, 129, 66], 3);
    assert_all_alike(&matrices, Options::causal(), 1e-11);
    let matrices = fill([1, 70, 140, 66, 140], 3);
    assert_all_alike(&narrow(&matrices), Options::full(), 1e-3);
    // So wide that a single panel is more than is meant to stand at a time.
    let matrices = fill([1, 9, 140, 1030, 1100], 3);
    assert_all_alike(&matrices, Options::full().with_scale(0.1), 1e-10);
}

#[test]
fn what_is_not_finite_means_what_it_means_in_the_recipe() {
    for poison in [NAN, INFINITY, -INFINITY] {
        for which in 0..4 {
            for row in [0, 40, 69] {
                for options in [Options::full(), Options::causal()] {
                    let mut matrices = fill([2, 70, 70, 3, 4], 5);
                    matrices[which][[1, row, 2]] = poison;
                    // The loss looks at some outputs only.
                    matrices[3].slice_mut(s![.., 30..50, ..]).fill(0.0);
                    assert_all_alike(&matrices, options, 1e-12);
                    assert_keeping_changes_nothing(&matrices, options);
                }
            }
        }
    }
}

#[test]
fn scores_that_only_their_scale_makes_infinite_are_seen() {
    let mut matrices = fill([1, 20, 30, 3, 4], 5);
    matrices[0].fill(1e200);
    matrices[1] *= 1e100;
    assert_all_alike(&matrices, Options::full().with_scale(1e20), 1e-12);
}

#[test]
fn a_closed_key_leaks_nothing() {
    let mut matrices = fill([1, 70, 70, 3, 4], 5);
    matrices[3].slice_mut(s![.., 69, ..]).fill(0.0);
    let clean = by_tiles(Instructions::best(), &matrices, Options::causal());
    matrices[1].slice_mut(s![.., 69, ..]).fill(NAN);
    matrices[2].slice_mut(s![.., 69, ..]).fill(INFINITY);
    let poisoned = by_tiles(Instructions::best(), &matrices, Options::causal());
    assert_alike(&poisoned.q, &clean.q, 1e-12);
    assert_alike(&poisoned.k, &clean.k, 1e-12);
    assert_alike(&poisoned.v, &clean.v, 1e-12);
}

#[test]
fn large_scores_keep_their_accuracy() {
    // Scores of some thousands, where softmax has one weight near 1 in many rows.
    let mut matrices = fill([1, 70, 140, 8, 4], 11);
    matrices[0] *= 300.0;
    assert_all_alike(&matrices, Options::causal(), 1e-9);
}

#[cfg(feature = "rayon")]
#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let matrices = fill([3, 301, 1100, 5, 4], 11);
    for options in [Options::full(), Options::causal()] {
        let gradient = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let made = pool.install(|| by_tiles(Instructions::best(), &matrices, options));
            [made.q, made.k, made.v].map(|array| array.mapv(f64::to_bits))
        };
        let one = gradient(1);
        for threads in [2, 3, 7] {
            assert_eq!(gradient(threads), one, "{threads} threads");
        }
    }
}

#[test]
fn shapes_that_do_not_fit_are_named() {
    let [q, k, v, d_output] = fill([2, 5, 7, 3, 4], 1);
    let message = |output: &ArrayRef3<f64>, d_output: &ArrayRef3<f64>| {
        heads::gradient(&q, &k, &v, output, d_output, Options::full()).unwrap_err().to_string()
    };
    assert_eq!(
        message(&v, &d_output),
        "output has shape (2, 7, 4) but q has shape (2, 5, 3): \
         their second axes (queries T_q) must be equal"
    );
    assert_eq!(
        message(&d_output, &q),
        "d_output has shape (2, 5, 3) but v has shape (2, 7, 4): \
         their last axes (value size d_v) must be equal"
    );
    let mut forward = Forward::new(&q, &k, &v, Options::full()).unwrap();
    let message = forward.gradient(&q).unwrap_err().to_string();
    assert!(message.starts_with("d_output has shape (2, 5, 3)"), "{message}");
    forward.output = v.clone();
    let message = forward.gradient(&d_output).unwrap_err().to_string();
    assert!(message.starts_with("output has shape (2, 7, 4)"), "{message}");
    let error = Forward::new(&q, &v, &v, Options::full()).unwrap_err();
    assert!(error.to_string().starts_with("k has shape (2, 7, 4)"), "{error}");
    let error = heads::gradient(&q, &v, &v, &d_output, &d_output, Options::full()).unwrap_err();
    assert!(error.to_string().starts_with("k has shape (2, 7, 4)"), "{error}");
    let options = Options::full().with_scale(NAN);
    let error = heads::gradient(&q, &k, &v, &d_output, &d_output, options).unwrap_err();
    assert!(matches!(error, Error::Scale(scale) if scale.is_nan()));
}
