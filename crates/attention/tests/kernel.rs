//! The fast kernel, for every set of instructions that this processor has,
//! against the recipe: one table of cases for all of them. Laws are in
//! `laws.rs`, the edges in `semantics.rs`, shapes at random in `fuzz.rs`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use attention::heads::{self, Instructions};
use attention::{Mask, Options, Real};
use ndarray::{Array3, ArrayRef3, Axis, s};

const MASKS: [Mask; 3] = [Mask::Full, Mask::Causal, Mask::CausalFromStart];

/// H, `T_q`, `T_k`, d, `d_v`: on both sides of the widths of panels (4 to 64),
/// of blocks of 64 queries, tiles of 128 keys and ranges of 1024, and of the
/// four rows and sixteen lanes that are computed at once.
const SIZES: [[usize; 5]; 18] = [
    [1, 1, 1, 1, 1],
    [3, 1, 5, 4, 2],
    [2, 3, 7, 5, 6],
    [1, 4, 1023, 64, 65],
    [2, 4, 1025, 63, 64],
    [1, 2, 2177, 16, 17],
    [2, 5, 3, 7, 4],
    [1, 8, 9, 3, 5],
    [1, 9, 8, 2, 3],
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

/// Numbers of about the normal distribution, the same for the same seed.
fn numbers<F: Real>(shape: (usize, usize, usize), seed: u64) -> Array3<F> {
    let mut state = seed;
    let mut uniform = move || {
        // Knuth's MMIX generator.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    Array3::from_shape_simple_fn(shape, || {
        F::from((0..12).map(|_| uniform()).sum::<f64>()).unwrap()
    })
}

fn qkv<F: Real>([heads, queries, keys, d, d_v]: [usize; 5]) -> [Array3<F>; 3] {
    [(queries, d, 1), (keys, d, 2), (keys, d_v, 3)]
        .map(|(rows, columns, seed)| numbers((heads, rows, columns), seed))
}

/// The largest difference, and NaN if there is one.
fn distance<F: Real>(a: &ArrayRef3<F>, b: &ArrayRef3<f64>) -> f64 {
    assert_eq!(a.dim(), b.dim());
    a.iter().zip(b).map(|(&a, &b)| (a.into() - b).abs()).fold(0.0, |largest: f64, difference| {
        if difference > largest || difference.is_nan() { difference } else { largest }
    })
}

/// What the recipe gives in f64.
fn truth<F: Real>([q, k, v]: &[Array3<F>; 3], options: Options<F>) -> Array3<f64> {
    let [q, k, v] = [q, k, v].map(|array| array.mapv(Into::into));
    let options = Options { mask: options.mask, scale: options.scale.map(Into::into) };
    heads::reference(&q, &k, &v, options).unwrap()
}

fn every_case_is_near_the_truth<F: Real>(bound: f64) {
    for sizes in SIZES {
        let problem @ [q, k, v] = &qkv::<F>(sizes);
        for mask in MASKS {
            for scale in [None, F::from(-0.5), F::from(0.0)] {
                let options = Options { mask, scale };
                let truth = truth(problem, options);
                for instructions in Instructions::available() {
                    let output = heads::attend_on(instructions, q, k, v, options).unwrap();
                    let error = distance(&output, &truth);
                    assert!(
                        error <= bound,
                        "{instructions} {sizes:?} {options:?}: off by {error:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_case_in_f32() {
    // Values are below 4 or so: this is some ten roundings.
    every_case_is_near_the_truth::<f32>(4e-6);
}

#[test]
fn every_case_in_f64() {
    every_case_is_near_the_truth::<f64>(8e-15);
}

#[test]
fn instructions_with_fused_multiply_add_give_the_same_bits() {
    for sizes in SIZES {
        let [q, k, v] = qkv::<f32>(sizes);
        let fused = Instructions::available().filter(|known| known.to_string() != "portable");
        let mut outputs = fused.map(|instructions| {
            heads::attend_on(instructions, &q, &k, &v, Options::causal()).unwrap()
        });
        if let Some(first) = outputs.next() {
            assert!(outputs.all(|output| output == first), "{sizes:?}");
        }
    }
}

#[test]
fn every_processor_has_instructions_and_the_best_come_first() {
    let available: Vec<_> = Instructions::available().map(|known| known.to_string()).collect();
    assert_eq!(available.last().unwrap(), "portable");
    assert_eq!(available[0], heads::instructions().to_string());
}

#[test]
fn large_scores_do_not_lose_more_than_their_rounding() {
    // Scores of a hundred or so, where only the few largest weigh anything.
    let problem @ [q, k, v] = &qkv::<f32>([2, 70, 500, 64, 5]);
    let options = Options::causal().with_scale(12.0);
    let truth = truth(problem, options);
    for instructions in Instructions::available() {
        let output = heads::attend_on(instructions, q, k, v, options).unwrap();
        // A score of 400 is known to 400·2⁻²⁴ or so, times a few for its sum.
        let error = distance(&output, &truth);
        assert!(error <= 4e-4, "{instructions}: off by {error:e}");
    }
}

#[test]
fn constants_average_to_themselves() {
    // Equal scores, and sums of many equal values: what rounds, rounds one way.
    let q = Array3::from_elem((1, 70, 16), 0.7_f32);
    let k = Array3::from_elem((1, 5000, 16), 0.3_f32);
    let v = Array3::from_elem((1, 5000, 4), 0.1_f32);
    for instructions in Instructions::available() {
        for queries in [2, 70] {
            let q = q.slice(s![.., ..queries, ..]);
            let output = heads::attend_on(instructions, &q, &k, &v, Options::full()).unwrap();
            let error = distance(&output, &output.mapv(|_| f64::from(0.1_f32)));
            assert!(error <= 1e-6, "{instructions}: off by {error:e}");
        }
    }
}

#[test]
fn a_key_that_towers_above_all_gives_its_value_alone() {
    // One-hot: query i looks for key i, and scores it 200 above the others.
    let one_hot = Array3::from_shape_fn((1, 150, 150), |(_, i, j)| if i == j { 20.0 } else { 0.0 });
    let v = numbers::<f32>((1, 150, 7), 5);
    for instructions in Instructions::available() {
        let options = Options::full().with_scale(0.5);
        let output = heads::attend_on(instructions, &one_hot, &one_hot, &v, options).unwrap();
        assert_eq!(output, v, "{instructions}");
    }
}

#[test]
fn views_of_any_layout_give_the_same_bits() {
    let [q, k, v] = qkv::<f32>([3, 70, 260, 24, 20]);
    for instructions in Instructions::available() {
        for queries in [3, 70] {
            let q = q.slice(s![.., ..queries, ..]);
            let owned = heads::attend_on(instructions, &q, &k, &v, Options::causal()).unwrap();
            // (T, H, d), as models have it, seen as (H, T, d); and (H, d, T) backwards.
            let by_token = [&q, &k.view(), &v.view()].map(|array| {
                array.view().permuted_axes([1, 0, 2]).as_standard_layout().into_owned()
            });
            let [q1, k1, v1] =
                by_token.each_ref().map(|array| array.view().permuted_axes([1, 0, 2]));
            let output = heads::attend_on(instructions, &q1, &k1, &v1, Options::causal()).unwrap();
            assert_eq!(output, owned, "{instructions}");
            let mut backwards = [&q, &k.view(), &v.view()].map(|array| {
                array
                    .slice(s![.., ..;-1, ..])
                    .permuted_axes([0, 2, 1])
                    .as_standard_layout()
                    .into_owned()
            });
            let [q2, k2, v2] = backwards.each_mut().map(|array| {
                array.invert_axis(Axis(2));
                array.view().permuted_axes([0, 2, 1])
            });
            let output = heads::attend_on(instructions, &q2, &k2, &v2, Options::causal()).unwrap();
            assert_eq!(output, owned, "{instructions}");
        }
    }
}

#[test]
fn the_same_numbers_give_the_same_bits_again() {
    let [q, k, v] = qkv::<f32>([2, 130, 2100, 40, 24]);
    for queries in [1, 130] {
        let q = q.slice(s![.., ..queries, ..]);
        let bits = || heads::attend(&q, &k, &v, Options::causal()).unwrap().mapv(f32::to_bits);
        let first = bits();
        assert!((0..5).all(|_| bits() == first));
    }
}

#[cfg(feature = "rayon")]
#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for (instructions, queries) in Instructions::available().flat_map(|set| [(set, 2), (set, 300)])
    {
        let [q, k, v] = qkv::<f32>([3, queries, 2500, 33, 20]);
        let bits = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let attend = || heads::attend_on(instructions, &q, &k, &v, Options::causal());
            pool.install(attend).unwrap().mapv(f32::to_bits)
        };
        let one = bits(1);
        for threads in [2, 3, 7] {
            assert_eq!(bits(threads), one, "{instructions}, {threads} threads");
        }
    }
}

/// Puts a number that is not finite in each of these places, one at a time.
fn poisoned(problem: &[Array3<f64>; 3]) -> Vec<[Array3<f64>; 3]> {
    let mut all = Vec::new();
    for which in 0..3 {
        for poison in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for row in [0, 3, 66, 140] {
                let mut problem = problem.clone();
                if row < problem[which].len_of(Axis(1)) {
                    problem[which][[1, row, 2]] = poison;
                    all.push(problem);
                }
            }
        }
    }
    all
}

#[test]
fn poison_acts_as_in_the_recipe() {
    for queries in [2, 70] {
        for problem in poisoned(&qkv::<f64>([2, queries, 150, 5, 6])) {
            let [q, k, v] = &problem;
            // A scale of 0, a negative one, and one that makes weights vanish.
            for scale in [None, Some(0.0), Some(-1.0), Some(500.0), Some(1e-300), Some(1.7e308)] {
                for mask in MASKS {
                    let options = Options { mask, scale };
                    let whole = heads::reference(q, k, v, options).unwrap();
                    for instructions in Instructions::available() {
                        let output = heads::attend_on(instructions, q, k, v, options).unwrap();
                        for (&tiles, &whole) in output.iter().zip(&whole) {
                            let near = (tiles - whole).abs() <= 1e-9 * whole.abs();
                            let same = near || tiles == whole || tiles.is_nan() && whole.is_nan();
                            assert!(same, "{instructions} {options:?}: {tiles} but {whole}");
                        }
                    }
                }
            }
        }
    }
}
