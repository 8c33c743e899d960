//! What must hold of the backward pass for every input. It knows nothing of the
//! formulas: the forward pass, nudged a little each way, is what they are held
//! against (finite differences), and the law that says what attention's derivative is.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use approx::assert_abs_diff_eq;
use attention::{Head, Mask, Options, Trace, gradient, recipe};
use ndarray::{Array2, Axis};
use proptest::prelude::*;

/// Numbers between −1 and 1, the same for the same seed: a linear congruential
/// generator with Knuth's MMIX constants.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / f64::from(1 << 23) - 1.0
    }

    fn matrix(&mut self, rows: usize, columns: usize) -> Array2<f64> {
        Array2::from_shape_simple_fn((rows, columns), || self.next())
    }
}

/// How a loss changes with each entry of a matrix, by nudging it: the slope of
/// the curve of the fourth degree through four points around it.
fn slopes(at: &Array2<f64>, loss: impl Fn(&Array2<f64>) -> f64) -> Array2<f64> {
    const STEP: f64 = 1e-3;
    Array2::from_shape_fn(at.dim(), |entry| {
        let nudged = |steps: f64| {
            let mut nudged = at.clone();
            nudged[entry] += steps * STEP;
            loss(&nudged)
        };
        let (near, far) = (nudged(1.0) - nudged(-1.0), nudged(2.0) - nudged(-2.0));
        (8.0 * near - far) / (12.0 * STEP)
    })
}

/// Demands that a gradient be the slopes of a loss: to 10⁻⁷ of its largest entry,
/// or to 10⁻¹⁰ if that is smaller.
fn assert_slopes(gradient: &Array2<f64>, at: &Array2<f64>, loss: impl Fn(&Array2<f64>) -> f64) {
    let largest = gradient.fold(1e-3_f64, |largest, entry| largest.max(entry.abs()));
    assert_abs_diff_eq!(*gradient, slopes(at, loss), epsilon = 1e-7 * largest);
}

/// A loss that depends on every entry: the sum of the entries, each times its own factor,
/// which is then the gradient of the loss with respect to the output.
fn weighted_sum(output: &Array2<f64>, factors: &Array2<f64>) -> f64 {
    (output * factors).sum()
}

fn options() -> impl Strategy<Value = Options<f64>> {
    let masks = prop_oneof![Just(Mask::Full), Just(Mask::Causal), Just(Mask::CausalFromStart)];
    let scale = prop::option::of(-2.0..2.0);
    (masks, scale).prop_map(|(mask, scale)| Options { mask, scale })
}

proptest! {
    #[test]
    fn queries_keys_and_values_by_finite_differences(
        (queries, keys, d, d_v) in (1..6_usize, 1..8_usize, 1..5_usize, 1..5_usize),
        options in options(),
        seed: u64,
    ) {
        let mut draw = Numbers(seed);
        let (q, k, v) = (draw.matrix(queries, d), draw.matrix(keys, d), draw.matrix(keys, d_v));
        let d_output = draw.matrix(queries, d_v);
        let trace = Trace::new(q.clone(), k.clone(), v.clone(), options).unwrap();
        let gradient = trace.gradient(&d_output, options).unwrap();
        let loss = |q: &Array2<f64>, k: &Array2<f64>, v: &Array2<f64>| {
            weighted_sum(&recipe::attend(q, k, v, options).unwrap(), &d_output)
        };
        assert_slopes(&gradient.q, &q, |q| loss(q, &k, &v));
        assert_slopes(&gradient.k, &k, |k| loss(&q, k, &v));
        assert_slopes(&gradient.v, &v, |v| loss(&q, &k, v));
    }

    #[test]
    fn tokens_and_weights_by_finite_differences(
        (tokens, d_model, d, d_v) in (1..6_usize, 1..5_usize, 1..5_usize, 1..5_usize),
        options in options(),
        seed: u64,
    ) {
        let mut draw = Numbers(seed);
        let x = draw.matrix(tokens, d_model);
        let [w_q, w_k] = [(); 2].map(|()| draw.matrix(d_model, d));
        let (w_v, d_output) = (draw.matrix(d_model, d_v), draw.matrix(tokens, d_v));
        let head = Head::new(w_q.clone(), w_k.clone(), w_v.clone()).unwrap();
        let trace = head.trace(&x, options).unwrap();
        let gradient = head.gradient(&x, &trace, &d_output, options).unwrap();
        let loss = |x: &Array2<f64>, w_q: &Array2<f64>, w_k: &Array2<f64>, w_v: &Array2<f64>| {
            let head = Head::new(w_q.clone(), w_k.clone(), w_v.clone()).unwrap();
            weighted_sum(&head.attend(x, options).unwrap(), &d_output)
        };
        assert_slopes(&gradient.x, &x, |x| loss(x, &w_q, &w_k, &w_v));
        assert_slopes(&gradient.w_q, &w_q, |w_q| loss(&x, w_q, &w_k, &w_v));
        assert_slopes(&gradient.w_k, &w_k, |w_k| loss(&x, &w_q, w_k, &w_v));
        assert_slopes(&gradient.w_v, &w_v, |w_v| loss(&x, &w_q, &w_k, w_v));
    }

    #[test]
    fn each_step_in_between_by_finite_differences(
        (queries, keys, d_v) in (1..6_usize, 1..8_usize, 1..5_usize),
        seed: u64,
        factor in -2.0..2.0,
        options in options(),
    ) {
        let mut draw = Numbers(seed);
        let (scores, v) = (draw.matrix(queries, keys), draw.matrix(keys, d_v));
        let (d_output, d_weights) = (draw.matrix(queries, d_v), draw.matrix(queries, keys));

        let weights = recipe::softmax(&scores);
        let d_scores = gradient::softmax(&weights, &d_weights).unwrap();
        assert_slopes(&d_scores, &scores, |scores| {
            weighted_sum(&recipe::softmax(scores), &d_weights)
        });

        let (of_weights, _) = gradient::mix(&weights, &v, &d_output).unwrap();
        assert_slopes(&of_weights, &weights, |weights| {
            weighted_sum(&recipe::mix(weights, &v).unwrap(), &d_output)
        });

        let of_scaled = gradient::scale(&gradient::mask(&d_weights, options.mask), factor);
        assert_slopes(&of_scaled, &scores, |scores| {
            let masked = recipe::mask(&recipe::scale(scores, factor), options.mask);
            let open = masked.mapv(|score| if score.is_finite() { score } else { 0.0 });
            weighted_sum(&open, &d_weights)
        });
    }

    /// The log of the sum of exp(s·q·kⱼ) has the gradient s·Σⱼ aⱼkⱼ with respect to
    /// the query q, which is the output where the values are the keys, times s. Its
    /// second derivative, and so the first of the output, is s times a covariance:
    /// that of the values and the keys, drawn with the weights as probabilities.
    #[test]
    fn the_derivative_by_a_query_is_a_covariance(
        (keys, d) in (1..12_usize, 1..6_usize),
        seed: u64,
        scale in 0.1..3.0,
    ) {
        let mut draw = Numbers(seed);
        let (q, k, direction) = (draw.matrix(1, d), draw.matrix(keys, d), draw.matrix(1, d));
        let options = Options::full().with_scale(scale);
        let trace = Trace::new(q, k.clone(), k.clone(), options).unwrap();
        let gradient = trace.gradient(&direction, options).unwrap();

        let mut weights = recipe::scale(&recipe::score(&trace.q, &k).unwrap(), scale).exp();
        weights /= weights.sum();
        let mean = (&weights.t() * &k).sum_axis(Axis(0));
        let deviations = &k - &mean;
        let covariance = (&weights.t() * &deviations).t().dot(&deviations);
        assert_abs_diff_eq!(gradient.q, direction.dot(&covariance) * scale, epsilon = 1e-13);
        assert_abs_diff_eq!(covariance, covariance.t(), epsilon = 1e-14);
    }

    /// Softmax does not see a number added to all scores of a row, so that the loss
    /// cannot grow that way: each row of the gradient adds up to 0.
    #[test]
    fn the_scores_of_a_row_cannot_all_grow_at_once(
        (queries, keys, d, d_v) in (1..6_usize, 1..8_usize, 1..5_usize, 1..5_usize),
        options in options(),
        seed: u64,
    ) {
        let mut draw = Numbers(seed);
        let (q, k, v) = (draw.matrix(queries, d), draw.matrix(keys, d), draw.matrix(keys, d_v));
        let d_output = draw.matrix(queries, d_v);
        let gradient = Trace::new(q, k, v, options).unwrap().gradient(&d_output, options).unwrap();
        for row in gradient.masked.outer_iter() {
            prop_assert!(row.sum().abs() < 1e-13, "{row}");
        }
        prop_assert_eq!(&gradient.masked, &gradient.scaled, "the mask closes what has no weight");
    }

    #[test]
    fn f32_gives_what_f64_gives(
        (queries, keys, d, d_v) in (1..6_usize, 1..8_usize, 1..5_usize, 1..5_usize),
        seed: u64,
    ) {
        let mut draw = Numbers(seed);
        let (q, k, v) = (draw.matrix(queries, d), draw.matrix(keys, d), draw.matrix(keys, d_v));
        let d_output = draw.matrix(queries, d_v);
        let double = Trace::new(q.clone(), k.clone(), v.clone(), Options::causal()).unwrap();
        let double = double.gradient(&d_output, Options::causal()).unwrap();
        let [q, k, v, d_output] = [q, k, v, d_output].map(|matrix| matrix.mapv(|entry| entry as f32));
        let single = Trace::new(q, k, v, Options::causal()).unwrap();
        let single = single.gradient(&d_output, Options::causal()).unwrap();
        // Sums of at most 40 products of numbers below 5, each with a relative error of 2⁻²³.
        assert_abs_diff_eq!(single.q.mapv(f64::from), double.q, epsilon = 1e-5);
        assert_abs_diff_eq!(single.k.mapv(f64::from), double.k, epsilon = 1e-5);
        assert_abs_diff_eq!(single.v.mapv(f64::from), double.v, epsilon = 1e-5);
    }
}
