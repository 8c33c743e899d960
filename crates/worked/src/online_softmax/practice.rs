//! What goes wrong with partial results, on the toy head, and the answers to
//! the exercises that are numbers or claims; the others are programs on the page.

use attention::Error;
use attention::online::Partial;
use ledger::Ledger;
use ndarray::{Array1, Array2, Axis, array, s};

use super::{KEPT, halves, met, scores, steps_of};
use crate::Claim;
use crate::queries_keys_values::{CAT, MESSAGES, SAT, THE, TOKENS, example};

/// Enters the mistakes and the answers.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("online.unfaded", unfaded)
        .rows(&["sum fades alone", "as it should be"])
        .columns(&MESSAGES)
        .about(
            "the output of the last “the” if the output so far does not fade, and the right one",
        );
    ledger
        .enter("online.averaged", averaged)
        .rows(&["“The, cat” alone", "“sat, on, the” alone", "their plain average", "merged"])
        .columns(&MESSAGES)
        .about("the finished outputs of both parts, their plain average, and the merge");
    ledger
        .enter("online.exercise.sat", steps_of_sat)
        .rows(&TOKENS[..=SAT])
        .columns(&KEPT)
        .about("what “sat” keeps after each of the keys it may see");
    ledger
        .enter("online.exercise.rises", rises_by_order)
        .digits(0)
        .columns(&["as in the sentence", "smallest first", "largest first"])
        .about("how often the largest score rises, the first key included, in three orders");
    ledger
        .enter("online.exercise.weight", weight_of_cat_regained)
        .about("the weight of “cat” from its score, the largest score and the sum");
    ledger.enter("online.exercise.two.numbers", average_and_logarithm_suffice).about(
        "the averages of two parts and the logarithms of their sums give the merged average",
    );
}

/// The last row of the output if only the sum fades, and the right one: `(2, d_v)`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn unfaded() -> Result<Array2<f64>, Error> {
    let trace = example()?.trace;
    let steps = super::steps()?;
    let exponentials = steps.column(3).to_owned().insert_axis(Axis(1));
    let wrong = (&exponentials * &trace.v).sum_axis(Axis(0)) / steps[[THE, 4]];
    ndarray::stack(Axis(0), &[wrong.view(), trace.output.row(THE)]).map_err(never)
}

/// The finished outputs of both parts, their plain average, and the merge: `(4, d_v)`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn averaged() -> Result<Array2<f64>, Error> {
    let [left, right, merged] = halves()?.map(Partial::finish);
    let average = (&left + &right) / 2.0;
    let rows = [left.view(), right.view(), average.view(), merged.view()];
    ndarray::stack(Axis(0), &rows).map_err(never)
}

/// Rows of one length always stack; were they not, this is what is said.
fn never(_: ndarray::ShapeError) -> Error {
    Error::TooLarge { array: "a table of outputs", shape: vec![MESSAGES.len()] }
}

/// What “sat” keeps after each of the keys it may see: `(3, 5)`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn steps_of_sat() -> Result<Array2<f64>, Error> {
    steps_of(&example()?.trace.masked.slice(s![SAT, ..=SAT]))
}

/// How often the largest score of the last “the” rises: in the order of the
/// sentence, in ascending order, in descending order; `(3)`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn rises_by_order() -> Result<Array1<f64>, Error> {
    let scores = scores()?;
    let mut ascending = scores.to_vec();
    ascending.sort_by(f64::total_cmp);
    let descending: Vec<f64> = ascending.iter().rev().copied().collect();
    Ok(array![rises(&scores)?, rises(&ascending.into())?, rises(&descending.into())?])
}

fn rises(scores: &Array1<f64>) -> Result<f64, Error> {
    Ok(steps_of(scores)?.column(2).iter().filter(|&&fade| fade < 1.0).count() as f64)
}

/// `exp(s − m)/ℓ` for “cat”, once all keys were met.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn weight_of_cat_regained() -> Result<f64, Error> {
    let all = met(0..TOKENS.len())?;
    Ok((scores()?[CAT] - all.largest()).exp() / all.sum())
}

/// Of each part the finished average and `L = m + ln ℓ` are enough: the merged
/// average weighs the two by `exp(L)`.
///
/// # Errors
///
/// The two averages, where they differ by more than rounding.
pub fn average_and_logarithm_suffice() -> Claim {
    let parts = halves().map_err(|error| error.to_string())?;
    let logarithm = |part: &Partial<f64>| part.largest() + part.sum().ln();
    let share = 1.0 / (1.0 + (logarithm(&parts[1]) - logarithm(&parts[0])).exp());
    let [left, right, merged] = parts.map(Partial::finish);
    let found = left * share + right * (1.0 - share);
    let apart = (&found - &merged).iter().fold(0.0, |most: f64, gap| most.max(gap.abs()));
    if apart < 1e-12 { Ok(()) } else { Err(format!("it gives {found}, not {merged}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    /// “The” counts 1 where it should count 0.154: by 0.846 times its value,
    /// over the sum, the wrong output is too large.
    #[test]
    fn the_unfaded_output_has_too_much_of_the_first_key() {
        let rows = unfaded().unwrap();
        let sum = super::super::steps().unwrap()[[THE, 4]];
        let excess = (&rows.row(0) - &rows.row(1)) * sum;
        assert_abs_diff_eq!(excess, array![0.2, 0.0, 0.9] * 0.8460, epsilon = 1e-4);
    }

    #[test]
    fn the_largest_first_needs_no_second_rise() {
        // −0.83 stands twice in the row: four different scores.
        assert_eq!(rises_by_order().unwrap(), array![2.0, 4.0, 1.0]);
    }

    #[test]
    fn the_weight_regained_is_that_of_the_recipe() {
        let weights = example().unwrap().trace.weights;
        assert_abs_diff_eq!(
            weight_of_cat_regained().unwrap(),
            weights[[THE, CAT]],
            epsilon = 1e-12
        );
    }
}
