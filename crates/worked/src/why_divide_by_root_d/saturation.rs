//! What large scores do to softmax, and to its slopes: those that learning needs.

use attention::recipe::{default_scale, mask, scale, score, softmax};
use attention::{Error, Mask, gradient};
use learning::Random;
use ledger::{Axis, Figure, Ledger, Plot, Series};
use ndarray::{Array1, Array2, array};

use super::HEAD_SIZES;
use crate::Claim;

/// The keys of the bars.
const FEW_KEYS: usize = 8;
/// The keys of one row, and the queries of one draw, where rows are measured.
pub(super) const KEYS: usize = 32;
const QUERIES: usize = 128;
/// The head size of the examples, a common one in real models.
pub(super) const D: usize = 64;

/// Enters the values of the sections on saturation.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("root.bars", weights_of_one_query)
        .about("the weights that one random query gives to 8 random keys, d = 64");
    ledger
        .enter("root.bars.largest.unscaled", largest_unscaled)
        .about("the largest weight of this query without the scale");
    ledger
        .enter("root.bars.largest.scaled", largest_scaled)
        .about("the largest weight of this query with the scale");
    ledger.enter("root.slope", slope_curves).digits(3).about(
        "the weight of one key of two, and its slope, against the difference of their scores",
    );
    enter_slope::<0>(ledger);
    enter_slope::<1>(ledger);
    enter_slope::<2>(ledger);
    enter_slope::<4>(ledger);
    enter_slope::<8>(ledger);
    let (by_scores, weights) =
        (["1st score", "2nd score", "3rd score"], ["1st weight", "2nd weight", "3rd weight"]);
    ledger
        .enter("root.jacobian.weights", small_weights)
        .columns(&weights)
        .about("the weights of the scores 1, 0.5 and 0");
    ledger.enter("root.jacobian", small_slopes).rows(&weights).columns(&by_scores).about(
        "how each weight (row) changes with each score (column), at the scores 1, 0.5 and 0",
    );
    ledger
        .enter("root.jacobian.weights.large", large_weights)
        .columns(&weights)
        .about("the weights of the scores 8, 4 and 0");
    ledger
        .enter("root.jacobian.large", large_slopes)
        .rows(&weights)
        .columns(&by_scores)
        .about("the same slopes at the scores 8, 4 and 0");
    ledger
        .enter("root.jacobian.rows", slopes_add_up_to_zero)
        .about("each row and each column of the slopes adds up to 0");
    ledger
        .enter("root.reaction", reactions)
        .digits(3)
        .about("how strongly a row of 32 weights reacts to its scores, against the head size");
    ledger
        .enter("root.reaction.unscaled", reaction_unscaled)
        .digits(3)
        .about("how strongly a row of weights reacts at d = 1024 without the scale");
    ledger
        .enter("root.reaction.scaled", reaction_scaled)
        .digits(3)
        .about("how strongly a row of weights reacts at d = 1024 with the scale");
    ledger
        .enter("root.reaction.steady", reaction_is_steady)
        .about("with the scale, a row reacts alike at every head size, to 5 in a hundred");
    ledger
        .enter("root.over-d.largest", largest_weight_divided_by_d)
        .digits(3)
        .about("the mean largest weight of 32 at d = 1024, if scores are divided by d");
}

fn enter_slope<const DIFFERENCE: u32>(ledger: &mut Ledger) {
    ledger
        .enter(&format!("root.weight.{DIFFERENCE}"), weight_ahead::<DIFFERENCE>)
        .digits(4)
        .about("the weight of the better of two keys, whose scores differ by so much");
    ledger
        .enter(&format!("root.slope.{DIFFERENCE}"), slope_ahead::<DIFFERENCE>)
        .digits(4)
        .about("how much this weight grows for each unit of its score");
}

/// The scores of one random query with a few random keys, `(1, 8)`, not scaled.
fn scores_of_one_query() -> Result<Array2<f64>, Error> {
    let mut random = Random::seeded(49);
    score(&random.matrix(1, D), &random.matrix(FEW_KEYS, D))
}

/// The weights that one random query gives, with the scale and without.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn weights_of_one_query() -> Result<Figure, Error> {
    let scores = scores_of_one_query()?;
    let heights = |factor| softmax(&scale(&scores, factor)).row(0).to_vec();
    Ok(Figure {
        description: "Bars for eight keys. Without the scale one key takes nearly all of the \
                      weight; with it every key has some, and the same key has the most."
            .to_owned(),
        plot: Plot::Bars {
            categories: (1..=FEW_KEYS).map(|key| format!("key {key}")).collect(),
            y: Axis::linear("weight"),
            series: vec![
                ("divided by √d".to_owned(), heights(default_scale(D))),
                ("unscaled".to_owned(), heights(1.0)),
            ],
        },
    })
}

/// The largest of these weights, without the scale.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn largest_unscaled() -> Result<f64, Error> {
    Ok(mean_largest(&softmax(&scores_of_one_query()?)))
}

/// The largest of these weights, with the scale.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn largest_scaled() -> Result<f64, Error> {
    Ok(mean_largest(&softmax(&scale(&scores_of_one_query()?, default_scale(D)))))
}

/// The largest weight of a row, on average over the rows.
fn mean_largest(weights: &Array2<f64>) -> f64 {
    let largest = |row: ndarray::ArrayView1<f64>| row.fold(0.0, |a: f64, &b| a.max(b));
    weights.outer_iter().map(largest).sum::<f64>() / weights.nrows() as f64
}

/// The weight of the better of two keys.
#[must_use]
pub fn weight_ahead<const DIFFERENCE: u32>() -> f64 {
    softmax(&array![[f64::from(DIFFERENCE), 0.0]])[[0, 0]]
}

/// The slope of that weight: how much it grows for each unit of its own score.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn slope_ahead<const DIFFERENCE: u32>() -> Result<f64, Error> {
    Ok(slopes(&array![f64::from(DIFFERENCE), 0.0])?[[0, 0]])
}

/// The slopes of softmax at some scores: how each weight (row) changes with each
/// score (column). Asked of the backward pass, one weight at a time.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn slopes(scores: &Array1<f64>) -> Result<Array2<f64>, Error> {
    let row = scores.view().insert_axis(ndarray::Axis(0));
    let weights = softmax(&row.broadcast((scores.len(), scores.len())).unwrap_or(row));
    gradient::softmax(&weights, &Array2::eye(weights.nrows()))
}

/// The weight of the first of two keys, and its slope.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn slope_curves() -> Result<Figure, Error> {
    let (mut weights, mut slope) = (Vec::new(), Vec::new());
    for half in -20..=20 {
        let difference = f64::from(half) / 2.0;
        weights.push((difference, softmax(&array![[difference, 0.0]])[[0, 0]]));
        slope.push((difference, slopes(&array![difference, 0.0])?[[0, 0]]));
    }
    Ok(Figure {
        description: "Two curves over the difference of two scores, from −10 to 10. The weight \
                      of the first key climbs from 0 to 1 in an S, half of the way at 0. Its \
                      slope is a hill around 0, a quarter high, and nearly 0 beyond 5 on both \
                      sides."
            .to_owned(),
        plot: Plot::Lines {
            x: Axis::linear("score of the first key, less that of the second"),
            y: Axis::linear("weight, and slope"),
            series: vec![
                Series { name: "weight of the first key".to_owned(), points: weights },
                Series { name: "its slope".to_owned(), points: slope },
            ],
        },
    })
}

/// Three scores as they may be once scaled.
fn small_scores() -> Array1<f64> {
    array![1.0, 0.5, 0.0]
}

/// The same before: 8 = √64 times as large.
fn large_scores() -> Array1<f64> {
    small_scores() / default_scale::<f64>(D)
}

/// The weights of the three scores, scaled.
#[must_use]
pub fn small_weights() -> Array1<f64> {
    softmax(&small_scores().insert_axis(ndarray::Axis(0))).row(0).to_owned()
}

/// The weights of the three scores, not scaled.
#[must_use]
pub fn large_weights() -> Array1<f64> {
    softmax(&large_scores().insert_axis(ndarray::Axis(0))).row(0).to_owned()
}

/// The slopes at the three scores, scaled.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn small_slopes() -> Result<Array2<f64>, Error> {
    slopes(&small_scores())
}

/// The slopes at the three scores, not scaled.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn large_slopes() -> Result<Array2<f64>, Error> {
    slopes(&large_scores())
}

/// [`add_up_to_zero`], of the slopes shown.
///
/// # Errors
///
/// The sum that is not 0.
pub fn slopes_add_up_to_zero() -> Claim {
    for slopes in [small_slopes(), large_slopes()] {
        add_up_to_zero(&slopes.map_err(|error| error.to_string())?)?;
    }
    Ok(())
}

/// What one weight gains the others lose; what is added to every score is lost.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn add_up_to_zero(slopes: &Array2<f64>) -> Claim {
    let sums = [slopes.sum_axis(ndarray::Axis(0)), slopes.sum_axis(ndarray::Axis(1))];
    match sums.iter().flatten().find(|sum| sum.abs() > 1e-15) {
        Some(sum) => Err(format!("a row or column adds up to {sum}")),
        None => Ok(()),
    }
}

/// The weights of random queries on random keys: `(128, 32)`.
fn random_weights(d: usize, factor: f64) -> Result<Array2<f64>, Error> {
    let mut random = Random::seeded(100 + d as u64);
    let scores = score(&random.matrix(QUERIES, d), &random.matrix(KEYS, d))?;
    Ok(softmax(&mask(&scale(&scores, factor), Mask::Full)))
}

/// How strongly a row of weights reacts: the slopes of all its weights with their
/// own scores, a·(1 − a), added up; on average over random rows.
fn mean_reaction(d: usize, factor: f64) -> Result<f64, Error> {
    let weights = random_weights(d, factor)?;
    Ok(weights.mapv(|weight| weight * (1.0 - weight)).sum() / weights.nrows() as f64)
}

/// The reaction of a row against the head size, with the scale and without.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn reactions() -> Result<Figure, Error> {
    let curve = |name: &str, factor: fn(usize) -> f64| {
        let point = |d: usize| Ok((d as f64, mean_reaction(d, factor(d))?));
        let points: Result<Vec<_>, Error> = HEAD_SIZES.into_iter().map(point).collect();
        Ok::<_, Error>(Series { name: name.to_owned(), points: points? })
    };
    Ok(Figure {
        description: "Two curves over the head size, from 1 to 1024. Scaled by one over the root \
                      of d, a row of weights reacts as strongly at every head size. Unscaled, it \
                      reacts less and less, and hardly at all at 1024."
            .to_owned(),
        plot: Plot::Lines {
            x: Axis::logarithmic("head size d"),
            y: Axis::linear("reaction of a row"),
            series: vec![curve("scaled by 1/√d", default_scale)?, curve("unscaled", |_| 1.0)?],
        },
    })
}

/// The reaction at the largest head size, without the scale.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn reaction_unscaled() -> Result<f64, Error> {
    mean_reaction(1024, 1.0)
}

/// The reaction at the largest head size, with the scale.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn reaction_scaled() -> Result<f64, Error> {
    mean_reaction(1024, default_scale(1024))
}

/// [`steady`], with the scale.
///
/// # Errors
///
/// Two head sizes at which a row reacts differently.
pub fn reaction_is_steady() -> Claim {
    steady(default_scale)
}

/// A row reacts at every head size from 4 as it does at 1024, to 5 in a hundred.
/// (At d = 1 the scores are no bell yet.)
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn steady(factor: fn(usize) -> f64) -> Claim {
    let reaction = |d| mean_reaction(d, factor(d)).map_err(|error| error.to_string());
    let last = reaction(1024)?;
    for d in HEAD_SIZES.into_iter().filter(|&d| d >= 4) {
        let ratio = reaction(d)? / last;
        if !(0.95..=1.05).contains(&ratio) {
            return Err(format!("at d = {d} a row reacts {ratio:.2} times as much as at 1024"));
        }
    }
    Ok(())
}

/// The mean largest weight of a row if its scores are divided by d itself.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn largest_weight_divided_by_d() -> Result<f64, Error> {
    Ok(mean_largest(&random_weights(1024, 1.0 / 1024.0)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    /// The derivative of the logistic function is a·(1 − a): a quarter at 0, and
    /// at 2, where a = 0.880797, it is 0.104994.
    #[test]
    fn the_slope_of_two_keys_is_that_of_the_logistic_function() {
        assert_abs_diff_eq!(slope_ahead::<0>().unwrap(), 0.25, epsilon = 1e-15);
        assert_abs_diff_eq!(slope_ahead::<2>().unwrap(), 0.104_994, epsilon = 1e-6);
    }

    #[test]
    fn the_slopes_are_those_of_nudged_scores() {
        let nudged = |by: f64| softmax(&array![[1.0, 0.5 + by, 0.0]]);
        let measured = (nudged(1e-6) - nudged(-1e-6)) / 2e-6;
        assert_abs_diff_eq!(small_slopes().unwrap().column(1), measured.row(0), epsilon = 1e-9);
    }

    #[test]
    fn slopes_that_do_not_add_up_are_told() {
        let mut slopes = small_slopes().unwrap();
        slopes[[0, 0]] += 0.01;
        assert!(add_up_to_zero(&slopes).unwrap_err().contains("adds up to 0.0"));
    }

    #[test]
    fn without_the_scale_a_row_does_not_react_steadily() {
        assert!(steady(|_| 1.0).unwrap_err().starts_with("at d = 4 "));
    }
}
