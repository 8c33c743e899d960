//! Attention on numbers of 16 bits, with every set of instructions that this
//! processor has, against the recipe in `f64` on the same numbers.

#![cfg(feature = "bf16")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use attention::heads::{self, Instructions};
use attention::{Mask, Options};
use half::bf16;
use ndarray::{Array3, ArrayRef3, s};
use proptest::prelude::*;

const MASKS: [Mask; 3] = [Mask::Full, Mask::Causal, Mask::CausalFromStart];

/// The largest error of rounding to eight significant bits, as a share: half of the
/// last of them.
const ROUNDING: f64 = 1.0 / 256.0;

/// Numbers between −2 and 2, the same for the same seed.
fn numbers(shape: (usize, usize, usize), seed: u64) -> Array3<bf16> {
    let mut state = seed;
    Array3::from_shape_simple_fn(shape, || {
        // Knuth's MMIX generator.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        bf16::from_f64((state >> 40) as f64 / f64::from(1 << 22) - 2.0)
    })
}

fn qkv([heads, queries, keys, d, d_v]: [usize; 5], seed: u64) -> [Array3<bf16>; 3] {
    [(queries, d, 1), (keys, d, 2), (keys, d_v, 3)]
        .map(|(rows, columns, which)| numbers((heads, rows, columns), seed + which))
}

/// What the recipe gives in f64; and what it gives for the sizes of the values
/// without their signs, of which rounded weights can lose a share.
fn truth([q, k, v]: [&ArrayRef3<bf16>; 3], options: Options<f32>) -> (Array3<f64>, Array3<f64>) {
    let [q, k, v] = [q, k, v].map(|array| array.mapv(f64::from));
    let options = Options { mask: options.mask, scale: options.scale.map(f64::from) };
    let sizes = heads::reference(&q, &k, &v.mapv(f64::abs), options).unwrap();
    (heads::reference(&q, &k, &v, options).unwrap(), sizes)
}

/// Demands that an output is the truth but for its own rounding, that of the
/// weights, and what sums of `f32` lose of scores; NaN and ∞ as they are.
fn must_be_near(output: &ArrayRef3<bf16>, (truth, sizes): &(Array3<f64>, Array3<f64>), who: &str) {
    assert_eq!(output.dim(), truth.dim());
    for ((&output, &truth), &sizes) in output.iter().zip(truth).zip(sizes) {
        let output = f64::from(output);
        let bound = (ROUNDING * (truth.abs() + sizes)) * 1.01 + 1e-5;
        let alike = output == truth || output.is_nan() && truth.is_nan();
        assert!(alike || (output - truth).abs() <= bound, "{who}: {output} but {truth}");
    }
}

/// Few queries and many, odd and even sizes, on both sides of a block of 64
/// queries, a tile of 128 keys and a range of 1024.
const SIZES: [[usize; 5]; 14] = [
    [1, 1, 1, 1, 1],
    [2, 1, 1030, 128, 64],
    [1, 4, 77, 63, 65],
    [1, 5, 1, 2, 2],
    [2, 9, 8, 3, 1],
    [2, 16, 16, 64, 64],
    [1, 17, 15, 8, 9],
    [3, 33, 129, 12, 13],
    [1, 63, 64, 33, 31],
    [2, 64, 127, 6, 8],
    [1, 65, 128, 20, 4],
    [2, 127, 65, 5, 7],
    [1, 130, 259, 66, 70],
    [1, 200, 300, 128, 1],
];

#[test]
fn every_case_is_near_the_truth() {
    for sizes in SIZES {
        let [q, k, v] = qkv(sizes, 7);
        for mask in MASKS {
            for scale in [None, Some(-0.5), Some(0.0)] {
                let options = Options { mask, scale };
                let truth = truth([&q, &k, &v], options);
                for instructions in Instructions::available() {
                    let output = heads::attend_on(instructions, &q, &k, &v, options).unwrap();
                    must_be_near(&output, &truth, &format!("{instructions} {sizes:?} {mask:?}"));
                }
            }
        }
    }
}

#[test]
fn known_averages_come_out_exactly() {
    // Equal scores: 1 and 3 make 2; a score that towers: its value alone.
    let flat = Array3::from_elem((1, 7, 2), bf16::ZERO);
    let k =
        Array3::from_shape_fn(
            (1, 2, 2),
            |(_, key, c)| {
                if key == c { bf16::from_f32(64.0) } else { bf16::ZERO }
            },
        );
    let v = Array3::from_shape_fn((1, 2, 3), |(_, key, _)| [bf16::ONE, bf16::from_f32(3.0)][key]);
    let tall = Array3::from_shape_fn((1, 7, 2), |(_, _, c)| [bf16::ZERO, bf16::from_f32(8.0)][c]);
    for instructions in Instructions::available() {
        let attend = |q| heads::attend_on(instructions, q, &k, &v, Options::full()).unwrap();
        assert_eq!(attend(&flat), Array3::from_elem((1, 7, 3), bf16::from_f32(2.0)));
        assert_eq!(attend(&tall), Array3::from_elem((1, 7, 3), bf16::from_f32(3.0)));
    }
}

#[test]
fn views_of_any_layout_give_the_same_bits() {
    let [q, k, v] = qkv([3, 70, 261, 24, 20], 5);
    let by_token = [&q, &k, &v]
        .map(|array| array.view().permuted_axes([1, 0, 2]).as_standard_layout().into_owned());
    for instructions in Instructions::available() {
        for queries in [3, 70] {
            let q = q.slice(s![.., ..queries, ..]);
            let owned = heads::attend_on(instructions, &q, &k, &v, Options::causal()).unwrap();
            let [_, k, v] = by_token.each_ref().map(|array| array.view().permuted_axes([1, 0, 2]));
            let output = heads::attend_on(instructions, &q, &k, &v, Options::causal()).unwrap();
            assert_eq!(output, owned, "{instructions}");
        }
    }
}

#[cfg(feature = "rayon")]
#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for queries in [2, 300] {
        let [q, k, v] = qkv([3, queries, 2500, 33, 20], 11);
        let bits = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let attend = || heads::attend(&q, &k, &v, Options::causal());
            pool.install(attend).unwrap().mapv(bf16::to_bits)
        };
        let one = bits(1);
        for threads in [2, 3, 7] {
            assert_eq!(bits(threads), one, "{threads} threads");
        }
    }
}

#[test]
fn what_is_not_finite_acts_as_in_the_recipe() {
    for queries in [2, 70] {
        let sound = qkv([2, queries, 150, 5, 6], 3);
        for (which, row) in [(0, 1), (1, 0), (1, 66), (1, 140), (2, 0), (2, 67), (2, 149)] {
            for poison in [bf16::NAN, bf16::INFINITY, bf16::NEG_INFINITY] {
                let mut problem = sound.clone();
                problem[which][[1, row, 2]] = poison;
                let [q, k, v] = &problem;
                for mask in MASKS {
                    let truth = truth([q, k, v], Options::masked(mask));
                    for instructions in Instructions::available() {
                        let output =
                            heads::attend_on(instructions, q, k, v, Options::masked(mask)).unwrap();
                        must_be_near(&output, &truth, &format!("{instructions} {mask:?}"));
                    }
                }
            }
        }
    }
}

#[test]
fn wrong_shapes_and_scales_are_named() {
    let [q, k, v] = qkv([2, 3, 5, 4, 6], 1);
    let error = heads::attend(&q, &v, &v, Options::full()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "k has shape (2, 5, 6) but q has shape (2, 3, 4): \
         their last axes (head size d) must be equal"
    );
    let error = heads::attend(&q, &k, &v, Options::full().with_scale(f32::NAN)).unwrap_err();
    assert!(error.to_string().starts_with("the scale is NaN"), "{error}");
    let empty = qkv([0, 3, 0, 0, 2], 1);
    let output = heads::attend(&empty[0], &empty[1], &empty[2], Options::full()).unwrap();
    assert_eq!(output.dim(), (0, 3, 2));
}

proptest! {
    #[test]
    fn shapes_at_random_are_near_the_truth(
        sizes in (0..4_usize, 0..80_usize, 0..150_usize, 0..40_usize, 0..40_usize),
        seed in 0..1000_u64,
        mask in prop::sample::select(MASKS.to_vec()),
        steps in [1..3_isize, 1..3_isize, 1..3_isize],
        backwards in any::<[bool; 3]>(),
    ) {
        let (heads, queries, keys, d, d_v) = sizes;
        let stored = [0, 1, 2].map(|which| {
            let (rows, columns) = [(queries, d), (keys, d), (keys, d_v)][which];
            numbers((heads, rows, columns * steps[which].unsigned_abs()), seed + which as u64)
        });
        let [q, k, v] = [0, 1, 2].map(|which| {
            let mut view = stored[which].slice(s![.., .., ..;steps[which]]);
            if backwards[which] {
                view.invert_axis(ndarray::Axis(1));
            }
            view
        });
        let truth = truth([&q, &k, &v], Options::masked(mask));
        for instructions in Instructions::available() {
            let output = heads::attend_on(instructions, &q, &k, &v, Options::masked(mask)).unwrap();
            must_be_near(&output, &truth, &format!("{instructions}"));
        }
    }
}
