//! The answers to the chapter's exercises that are numbers or claims; the
//! others are programs on the page.

use attention::{Error, Head};
use ledger::Ledger;
use ndarray::{Array1, Array2, Axis};

use super::{
    CAT, Example, SAT, THE, TOKENS, embeddings, example, key_weights, query_weights, value_weights,
};
use crate::{Claim, spell};

/// Enters the answers.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("qkv.exercise.sat.scores.the", sat_scores_the)
        .about("the score of the query of “sat” with the key of “The”, written out");
    ledger
        .enter("qkv.exercise.sat.scores.cat", sat_scores_cat)
        .about("the score of the query of “sat” with the key of “cat”, written out");
    ledger
        .enter("qkv.exercise.sat.scores.sat", sat_scores_sat)
        .about("the score of the query of “sat” with its own key, written out");
    ledger
        .enter("qkv.exercise.sat.weights", weights_of_sat)
        .columns(&TOKENS)
        .about("the weights of the query of “sat”");
    ledger
        .enter("qkv.exercise.first", first_sees_itself)
        .about("the first token gives all of its attention to itself, whatever the weights");
    ledger
        .enter("qkv.exercise.doubled.the.attends.cat", weight_of_cat_for_doubled_queries)
        .about("the weight that “the” gives to “cat” if W_Q is doubled");
    ledger
        .enter("qkv.exercise.order", order_is_not_seen)
        .about("the output of “the” is the same if “cat” and “sat” change places");
    ledger
        .enter("qkv.exercise.order.masked", order_is_seen_through_the_mask)
        .about("the outputs of “cat” and “sat” change if the two change places");
    ledger
        .enter("qkv.exercise.open", open_scores_of_1000)
        .about("the scores that a causal mask leaves open for 1000 tokens");
}

/// Query of “sat” times key of “The”, in TeX.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn sat_scores_the() -> Result<String, Error> {
    score_of_sat(0)
}

/// Query of “sat” times key of “cat”, in TeX.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn sat_scores_cat() -> Result<String, Error> {
    score_of_sat(CAT)
}

/// Query of “sat” times its own key, in TeX.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn sat_scores_sat() -> Result<String, Error> {
    score_of_sat(SAT)
}

fn score_of_sat(key: usize) -> Result<String, Error> {
    let trace = example()?.trace;
    Ok(spell::dot_product(&trace.q.row(SAT), &trace.k.row(key), 1, 2))
}

/// The weights of the query of “sat”: `(T)`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn weights_of_sat() -> Result<Array1<f64>, Error> {
    Ok(example()?.trace.weights.row(SAT).to_owned())
}

/// The first token sees itself alone, with the toy head and with every weight
/// of it turned around.
///
/// # Errors
///
/// The weights of the first token, where it is not so.
pub fn first_sees_itself() -> Claim {
    let turned = Head::new(-query_weights(), key_weights(), -value_weights());
    let turned = turned.and_then(|head| Example::new(embeddings(), head));
    for example in [example(), turned] {
        let weights = example.map_err(|error| error.to_string())?.trace.weights;
        if weights.row(0) != ndarray::array![1.0, 0.0, 0.0, 0.0, 0.0] {
            return Err(format!("the weights of the first token are {}", weights.row(0)));
        }
    }
    Ok(())
}

/// The weight that “the” gives to “cat” if every number of `W_Q` is doubled.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn weight_of_cat_for_doubled_queries() -> Result<f64, Error> {
    let head = Head::new(query_weights() * 2.0, key_weights(), value_weights())?;
    Ok(Example::new(embeddings(), head)?.trace.weights[[THE, CAT]])
}

/// “The sat cat on the” gives the last “the” the output it had.
///
/// # Errors
///
/// The two outputs, where they differ by more than rounding.
pub fn order_is_not_seen() -> Claim {
    let (before, after) = (output(embeddings(), THE)?, output(sat_before_cat(), THE)?);
    if apart(&before, &after) < 1e-12 {
        Ok(())
    } else {
        Err(format!("it was {before} and is {after}"))
    }
}

/// In “The sat cat on the”, “cat” and “sat” have other outputs than before.
///
/// # Errors
///
/// The output that stayed.
pub fn order_is_seen_through_the_mask() -> Claim {
    for (token, place) in [(CAT, SAT), (SAT, CAT)] {
        let (before, after) = (output(embeddings(), token)?, output(sat_before_cat(), place)?);
        if apart(&before, &after) < 1e-3 {
            return Err(format!("the output of “{}” is {after} as before", TOKENS[token]));
        }
    }
    Ok(())
}

/// The embeddings of “The sat cat on the”.
fn sat_before_cat() -> Array2<f64> {
    embeddings().select(Axis(0), &[0, SAT, CAT, 3, THE])
}

/// The toy head's output for one of these tokens.
fn output(x: Array2<f64>, token: usize) -> Result<Array1<f64>, String> {
    let example = super::toy_head().and_then(|head| Example::new(x, head));
    Ok(example.map_err(|error| error.to_string())?.trace.output.row(token).to_owned())
}

/// The largest difference between two vectors, in any one place.
fn apart(left: &Array1<f64>, right: &Array1<f64>) -> f64 {
    (left - right).iter().fold(0.0, |apart, gap| gap.abs().max(apart))
}

/// The scores that a causal mask leaves open for 1000 tokens: `T·(T + 1)/2`.
#[must_use]
pub fn open_scores_of_1000() -> usize {
    let tokens = 1000;
    (0..tokens).map(|query| attention::Mask::Causal.open_keys(query, tokens, tokens)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn the_scores_of_sat_are_those_worked_by_hand() {
        let ends = |spelled: Result<String, Error>| {
            spelled.unwrap().split(" = ").last().map(str::to_owned)
        };
        assert_eq!(ends(sat_scores_the()).unwrap(), "0.20");
        assert_eq!(ends(sat_scores_cat()).unwrap(), "1.00");
        assert_eq!(ends(sat_scores_sat()).unwrap(), "0.00");
    }

    /// Over √3: 0.1155, 0.5774, 0; exponentials 1.1224, 1.7813, 1; sum 3.9037.
    #[test]
    fn the_weights_of_sat_are_those_worked_by_hand() {
        let expected = ndarray::array![0.2875, 0.4563, 0.2562, 0.0, 0.0];
        assert_abs_diff_eq!(weights_of_sat().unwrap(), expected, epsilon = 1e-4);
    }

    #[test]
    fn gauss_adds_up_the_open_scores() {
        assert_eq!(open_scores_of_1000(), 500_500);
    }

    /// Twice the scaled scores of the row: ±; e^2.0785 = 7.992, e^0.4619 = 1.587,
    /// e^−1.6628 = 0.1896 (twice), e^−1.5242 = 0.2178.
    #[test]
    fn doubled_queries_give_cat_the_weight_worked_by_hand() {
        let expected = 7.992 / (7.992 + 1.587 + 2.0 * 0.1896 + 0.2178);
        assert_abs_diff_eq!(weight_of_cat_for_doubled_queries().unwrap(), expected, epsilon = 1e-3);
    }
}
