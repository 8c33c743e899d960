//! What goes wrong in practice: a step left out or done in the wrong place,
//! and what the numbers then say.

use attention::recipe::{default_scale, scale, score, softmax};
use attention::{Error, Mask, Options};
use ledger::{Axis, Figure, Ledger, Plot, Series};
use ndarray::{Array1, Array2};

use super::{CAT, SAT, THE, TOKENS, example};
use crate::Claim;

/// The largest number of half precision, the 16-bit float of IEEE 754.
const LARGEST_HALF: f64 = 65_504.0;
/// The head sizes of the figure.
const HEAD_SIZES: [usize; 6] = [1, 4, 16, 64, 256, 1024];
/// The random queries, and the keys, of one draw.
const KEYS: usize = 32;
/// The draws that a point of the figure averages.
const DRAWS: usize = 16;

/// Enters the values of the section.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("qkv.unmasked.cat", weights_of_cat_without_mask)
        .columns(&TOKENS)
        .about("the weights of cat's query where nothing is masked");
    ledger
        .enter("qkv.unmasked.cat.attends.sat", cat_to_sat_without_mask)
        .about("the weight that “cat” gives to “sat” where nothing is masked");
    ledger
        .enter("qkv.unscaled.the.attends.cat", the_to_cat_without_scale)
        .about("the weight that “the” gives to “cat” where scores are not scaled");
    ledger
        .enter("qkv.saturation", saturation)
        .digits(3)
        .about("the largest weight of random queries against the head size");
    ledger
        .enter("qkv.saturation.scaled", largest_weight_scaled)
        .about("the mean largest weight at d = 1024, with the scale");
    ledger
        .enter("qkv.saturation.unscaled", largest_weight_unscaled)
        .about("the mean largest weight at d = 1024, without it");
    ledger
        .enter("qkv.overflow.single", score_that_overflows_single)
        .about("the smallest whole score whose exponential overflows single precision");
    ledger
        .enter("qkv.overflow.half", score_that_overflows_half)
        .about("the smallest whole score whose exponential overflows half precision");
    ledger
        .enter("qkv.overflow.avoided", large_scores_give_shares)
        .about("the recipe's softmax gives shares that add up to 1 for scores in the thousands");
}

/// The weights of cat's query with no mask: it sees the words that follow.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn weights_of_cat_without_mask() -> Result<Array1<f64>, Error> {
    let example = example()?;
    let trace = example.head.trace(&example.x, Options::masked(Mask::Full))?;
    Ok(trace.weights.row(CAT).to_owned())
}

/// The weight that “cat” gives to “sat” with no mask.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn cat_to_sat_without_mask() -> Result<f64, Error> {
    Ok(weights_of_cat_without_mask()?[SAT])
}

/// The weight that “the” gives to “cat” if scores are not divided by `√d`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn the_to_cat_without_scale() -> Result<f64, Error> {
    let example = example()?;
    let trace = example.head.trace(&example.x, Options::causal().with_scale(1.0))?;
    Ok(trace.weights[[THE, CAT]])
}

/// The mean largest weight of random queries on random keys, with `1/√d` and
/// without, against the head size.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn saturation() -> Result<Figure, Error> {
    let curve = |name: &str, factor: fn(usize) -> f64| {
        let points: Result<Vec<_>, Error> = HEAD_SIZES
            .into_iter()
            .map(|d| Ok((d as f64, mean_largest_weight(d, factor(d))?)))
            .collect();
        Ok::<_, Error>(Series { name: name.to_owned(), points: points? })
    };
    Ok(Figure {
        description: "Two curves over the head size, from 1 to 1024. Scaled by one over the root \
                      of d, the largest weight of a row stays low. Unscaled, it climbs with the \
                      head size until one key takes nearly everything."
            .to_owned(),
        plot: Plot::Lines {
            x: Axis::logarithmic("head size d"),
            y: Axis::linear("largest weight of a row"),
            series: vec![curve("scaled by 1/√d", default_scale)?, curve("unscaled", |_| 1.0)?],
        },
    })
}

/// The mean largest weight at the largest head size, scaled.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn largest_weight_scaled() -> Result<f64, Error> {
    mean_largest_weight(1024, default_scale(1024))
}

/// The mean largest weight at the largest head size, unscaled.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn largest_weight_unscaled() -> Result<f64, Error> {
    mean_largest_weight(1024, 1.0)
}

/// The largest weight of a row, averaged over many random queries on random keys.
fn mean_largest_weight(d: usize, factor: f64) -> Result<f64, Error> {
    let mut random = Random(d as u64);
    let mut rows = || Array2::from_shape_simple_fn((KEYS, d), || random.standard());
    let mut total = 0.0;
    for _ in 0..DRAWS {
        let weights = softmax(&scale(&score(&rows(), &rows())?, factor));
        total += weights.outer_iter().map(|row| row.fold(0.0, |a: f64, &b| a.max(b))).sum::<f64>();
    }
    Ok(total / (DRAWS * KEYS) as f64)
}

/// Random numbers that come out alike on every machine: a linear congruential
/// generator with Knuth's constants, good enough for a figure.
struct Random(u64);

impl Random {
    /// A number of mean 0 and variance 1, evenly spread between −√3 and √3.
    fn standard(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let between_0_and_1 = (self.0 >> 11) as f64 / (1_u64 << 53) as f64;
        (between_0_and_1 - 0.5) * 12_f64.sqrt()
    }
}

/// The smallest whole score whose exponential is infinite in single precision.
#[must_use]
pub fn score_that_overflows_single() -> u32 {
    (0..1000).find(|&score| (score as f32).exp().is_infinite()).unwrap_or(1000)
}

/// The smallest whole score whose exponential is too large for half precision.
#[must_use]
pub fn score_that_overflows_half() -> u32 {
    (0..1000).find(|&score| f64::from(score).exp() > LARGEST_HALF).unwrap_or(1000)
}

/// The recipe's softmax, which subtracts the largest score first, gives weights
/// that add up to 1 for scores whose exponentials overflow.
///
/// # Errors
///
/// The weights, where they do not.
pub fn large_scores_give_shares() -> Claim {
    let weights = softmax(&ndarray::array![[1000.0_f32, 1001.0, 999.0], [9000.0, 0.0, -9000.0]]);
    for row in weights.outer_iter() {
        if (row.sum() - 1.0).abs() > 1e-6 {
            return Err(format!("the weights are {row}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    /// Cat's query is (0, 2, 0), so it scores twice each second key number: 0,
    /// 0, 4, 1.2, 0. Over √3: 2.3094 and 0.6928, whose exponentials are 10.068
    /// and 1.9993.
    #[test]
    fn the_unmasked_weights_of_cat_are_those_worked_by_hand() {
        let total = 3.0 + 10.068 + 1.9993;
        let expected =
            ndarray::array![1.0, 1.0, 10.068, 1.9993, 1.0].mapv(|share: f64| share / total);
        assert_abs_diff_eq!(weights_of_cat_without_mask().unwrap(), expected, epsilon = 1e-4);
    }

    /// ln 65504 = 11.0899; ln 3.40282e38 = 88.7228.
    #[test]
    fn exponentials_overflow_just_above_the_logarithm_of_the_largest_number() {
        assert_eq!(score_that_overflows_half(), 12);
        assert_eq!(score_that_overflows_single(), 89);
    }

    #[test]
    fn the_scale_keeps_the_largest_weight_from_growing_with_the_head_size() {
        let scaled: Vec<f64> =
            HEAD_SIZES.iter().map(|&d| mean_largest_weight(d, default_scale(d)).unwrap()).collect();
        assert!(scaled.iter().all(|&weight| weight < 0.35), "{scaled:?}");
        assert!(mean_largest_weight(1024, 1.0).unwrap() > 0.9);
    }

    #[test]
    fn the_random_numbers_have_mean_0_and_variance_1() {
        let mut random = Random(7);
        let numbers = Array1::from_shape_simple_fn(20_000, || random.standard());
        assert_abs_diff_eq!(numbers.mean().unwrap(), 0.0, epsilon = 0.03);
        assert_abs_diff_eq!(numbers.var(0.0), 1.0, epsilon = 0.03);
    }
}
