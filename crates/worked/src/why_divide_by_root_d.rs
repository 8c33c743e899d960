//! Chapter *Why divide by √d*: how large a dot product of random numbers is,
//! measured. What its size does to softmax and to learning, what it does to the
//! computer's numbers, and the exercises have files of their own.

pub mod exercises;
pub mod saturation;
pub mod stability;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use attention::recipe::{default_scale, scale, score};
use attention::{Error, Real};
use learning::Random;
use ledger::{Axis, Figure, Ledger, Plot, Series};
use ndarray::Array1;

use crate::{Claim, spell};

/// The head sizes at which dot products are measured.
pub const HEAD_SIZES: [usize; 6] = [1, 4, 16, 64, 256, 1024];
/// How many pairs of a query and a key are drawn for each head size.
pub const PAIRS: usize = 2000;
/// The head sizes whose scores are drawn as a curve.
const SPREADS: [usize; 3] = [4, 16, 64];
/// The width of a bin of these curves, and how many stand on each side of 0.
const BIN: f64 = 2.0;
const BINS: i32 = 13;

/// Enters every value of the chapter.
pub fn enter(ledger: &mut Ledger) {
    ledger.enter("root.pairs", pairs).about("how many pairs are drawn for each head size");
    ledger
        .enter("root.pair", pair)
        .rows(&["query", "key", "product"])
        .about("a random query, a random key and their products, place by place; d = 4");
    ledger.enter("root.pair.score", pair_score).about("the dot product of this pair");
    ledger
        .enter("root.spread", spread)
        .digits(3)
        .about("how the scores of random queries and keys are spread, for three head sizes");
    enter_head_size::<1>(ledger);
    enter_head_size::<4>(ledger);
    enter_head_size::<16>(ledger);
    enter_head_size::<64>(ledger);
    enter_head_size::<256>(ledger);
    enter_head_size::<1024>(ledger);
    ledger
        .enter("root.variance.is.d", variance_is_head_size)
        .about("the measured variance is d, to 15 in a hundred");
    ledger
        .enter("root.variance.scaled.is.one", scaled_variance_is_one)
        .about("divided by √d it is 1, to 15 in a hundred");
    ledger
        .enter("root.variance.curves", variances)
        .digits(1)
        .about("the variance of a dot product against the head size");
    saturation::enter(ledger);
    stability::enter(ledger);
    exercises::enter(ledger);
}

fn enter_head_size<const D: usize>(ledger: &mut Ledger) {
    ledger
        .enter(&format!("root.variance.{D}"), measured_variance::<D>)
        .about("the measured variance of the dot product at this head size");
    ledger
        .enter(&format!("root.deviation.{D}"), measured_deviation::<D>)
        .about("its root, the typical size of a dot product");
    ledger
        .enter(&format!("root.variance.scaled.{D}"), measured_scaled_variance::<D>)
        .about("the measured variance of the dot product divided by √d");
}

/// How many pairs are drawn for each head size.
#[must_use]
pub fn pairs() -> usize {
    PAIRS
}

/// One pair and its products, place by place: `(3, 4)`.
#[must_use]
pub fn pair() -> ndarray::Array2<f64> {
    let mut pair = Random::seeded(3).matrix(3, 4);
    let products = &pair.row(0) * &pair.row(1);
    pair.row_mut(2).assign(&products);
    pair
}

/// The dot product of the pair, its terms written out, in TeX.
#[must_use]
pub fn pair_score() -> String {
    spell::sum(&pair().row(2), 2)
}

/// The dot products of random queries with random keys, one of each at a time.
/// Drawn once for each head size, for several values are measured on them.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn scores(d: usize) -> Result<Array1<f64>, Error> {
    static DRAWN: Mutex<BTreeMap<usize, Array1<f64>>> = Mutex::new(BTreeMap::new());
    let mut drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(scores) = drawn.get(&d) {
        return Ok(scores.clone());
    }
    let scores = draw_scores(d)?;
    drawn.insert(d, scores.clone());
    Ok(scores)
}

fn draw_scores(d: usize) -> Result<Array1<f64>, Error> {
    let mut random = Random::seeded(d as u64);
    (0..PAIRS).map(|_| Ok(score(&random.matrix(1, d), &random.matrix(1, d))?[[0, 0]])).collect()
}

/// The variance of the dot products, as measured.
///
/// # Errors
///
/// Those of [`scores`].
pub fn measured_variance<const D: usize>() -> Result<f64, Error> {
    Ok(scores(D)?.var(0.0))
}

/// The standard deviation of the dot products, as measured.
///
/// # Errors
///
/// Those of [`scores`].
pub fn measured_deviation<const D: usize>() -> Result<f64, Error> {
    Ok(measured_variance::<D>()?.sqrt())
}

/// The variance of the dot products once they are scaled, as measured.
///
/// # Errors
///
/// Those of [`scores`].
pub fn measured_scaled_variance<const D: usize>() -> Result<f64, Error> {
    Ok(scaled(&scores(D)?, D).var(0.0))
}

/// Step 3 of the recipe, for scores of any number.
fn scaled(scores: &Array1<f64>, d: usize) -> Array1<f64> {
    let row = scores.view().insert_axis(ndarray::Axis(0));
    scale(&row, default_scale(d)).row(0).to_owned()
}

/// [`grows_as`] the head size, of the dot products.
///
/// # Errors
///
/// The head size and the variance for which it is not so.
pub fn variance_is_head_size() -> Claim {
    grows_as(|d| d as f64, |scores, _| scores)
}

/// [`grows_as`] nothing at all, of the scaled dot products.
///
/// # Errors
///
/// The head size and the variance for which it is not so.
pub fn scaled_variance_is_one() -> Claim {
    grows_as(|_| 1.0, |scores, d| scaled(&scores, d))
}

/// The variance of random scores, however treated, is the one expected at each
/// head size, give or take 15 in a hundred. (The variance of 2000 scores strays
/// by some 3 in a hundred.)
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn grows_as(
    expected: impl Fn(usize) -> f64,
    treated: impl Fn(Array1<f64>, usize) -> Array1<f64>,
) -> Claim {
    for d in HEAD_SIZES {
        let scores = scores(d).map_err(|error| error.to_string())?;
        let ratio = treated(scores, d).var(0.0) / expected(d);
        if !(0.85..=1.15).contains(&ratio) {
            return Err(format!("at d = {d} the variance is {ratio:.3} times the expected one"));
        }
    }
    Ok(())
}

/// The variance of a dot product against the head size, scaled and not.
///
/// # Errors
///
/// Those of [`scores`].
pub fn variances() -> Result<Figure, Error> {
    let (mut unscaled_points, mut scaled_points) = (Vec::new(), Vec::new());
    for d in HEAD_SIZES {
        let scores = scores(d)?;
        unscaled_points.push((d as f64, scores.var(0.0)));
        scaled_points.push((d as f64, scaled(&scores, d).var(0.0)));
    }
    Ok(Figure {
        description: "Two lines over the head size, from 1 to 1024, on logarithmic axes. The \
                      variance of the dot product climbs in step with the head size; divided by \
                      the root of d, it stays at 1."
            .to_owned(),
        plot: Plot::Lines {
            x: Axis::logarithmic("head size d"),
            y: Axis::logarithmic("variance"),
            series: vec![
                Series { name: "dot product".to_owned(), points: unscaled_points },
                Series { name: "divided by √d".to_owned(), points: scaled_points },
            ],
        },
    })
}

/// How the scores are spread: the share of them in each bin, for three head sizes.
///
/// # Errors
///
/// Those of [`scores`].
pub fn spread() -> Result<Figure, Error> {
    let curve = |d: usize| Ok(Series { name: format!("d = {d}"), points: shares(&scores(d)?) });
    let series: Result<Vec<_>, Error> = SPREADS.into_iter().map(curve).collect();
    Ok(Figure {
        description: "Three bells around 0. At head size 4 nearly all scores lie between −5 and \
                      5; at 16 the bell is twice as wide and half as high, at 64 twice as wide \
                      again, with scores beyond −20 and 20."
            .to_owned(),
        plot: Plot::Lines {
            x: Axis::linear("score"),
            y: Axis::linear("share of the scores"),
            series: series?,
        },
    })
}

/// The share of scores in each bin, at the bin's middle.
fn shares(scores: &Array1<f64>) -> Vec<(f64, f64)> {
    let share = |middle: f64| {
        let within = scores.iter().filter(|&&score| (score - middle).abs() <= BIN / 2.0).count();
        within as f64 / f64::from_count(scores.len())
    };
    (-BINS..=BINS).map(|bin| BIN * f64::from(bin)).map(|middle| (middle, share(middle))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    /// For numbers spread evenly with variance 1, the fourth moment is 9/5; the
    /// product of two has variance 1 and fourth moment 81/25. So the variance of
    /// 2000 of them strays by √((81/25 − 1)/2000) = 0.033, typically.
    #[test]
    fn one_product_has_variance_1() {
        assert_abs_diff_eq!(measured_variance::<1>().unwrap(), 1.0, epsilon = 0.1);
    }

    #[test]
    fn a_claim_about_another_growth_fails() {
        let error = grows_as(|d| (d as f64).sqrt(), |scores, _| scores).unwrap_err();
        assert!(error.starts_with("at d = 4 the variance is 2."), "{error}");
        let by_d = |scores: Array1<f64>, d: usize| scores / d as f64;
        assert!(grows_as(|_| 1.0, by_d).is_err());
    }

    #[test]
    fn the_bins_hold_every_score_at_small_sizes_and_nearly_all_at_64() {
        let total = |d| shares(&scores(d).unwrap()).iter().map(|point| point.1).sum::<f64>();
        assert_abs_diff_eq!(total(4), 1.0, epsilon = 1e-12);
        assert!((0.99..=1.0).contains(&total(64)), "{}", total(64));
    }
}
