//! What the chapter says of partial results, each sentence a check on the toy
//! head. That it holds for any scores is a property test of `attention`.

use attention::online::Partial;
use ledger::Ledger;
use ndarray::{Array1, Axis, s};

use super::{absorbed, met, steps};
use crate::Claim;
use crate::queries_keys_values::{SAT, THE, TOKENS, example};

/// How far apart two orders of one sum may be.
const ROUNDING: f64 = 1e-12;

/// Enters the claims of the chapter.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("online.equals.recipe", one_by_one_is_the_recipe)
        .about("keys met one by one give the output that the recipe gives");
    ledger
        .enter("online.one.fade", fades_once)
        .about("after the first key only “cat” makes anything fade");
    ledger
        .enter("online.sum.at.least.one", sum_is_at_least_one)
        .about("the sum is never below 1 once a key was met");
    ledger
        .enter("online.any.split", any_split_gives_the_same)
        .about("the row cut anywhere in two and merged gives the output of the recipe");
    ledger
        .enter("online.any.order", any_order_gives_the_same)
        .about("all 120 orders of the five keys give the output of the recipe");
    ledger
        .enter("online.associative", merging_is_associative)
        .about("three parts of the row merge to the same from the left and from the right");
    ledger
        .enter("online.empty", empty_changes_nothing)
        .about("merging with a result that met no key changes nothing");
}

/// What the recipe gives for the last “the”.
fn recipe() -> Result<Array1<f64>, String> {
    Ok(example().map_err(told)?.trace.output.row(THE).to_owned())
}

#[allow(clippy::needless_pass_by_value, reason = "`map_err` hands over the value")]
fn told(error: attention::Error) -> String {
    error.to_string()
}

/// Keys met one by one give what the recipe gives.
///
/// # Errors
///
/// The two outputs, where they differ by more than rounding.
pub fn one_by_one_is_the_recipe() -> Claim {
    same("one by one", met(0..TOKENS.len()).map_err(told)?, &recipe()?)
}

/// After the first key, only “cat” is a new largest score.
///
/// # Errors
///
/// The keys that make something fade.
pub fn fades_once() -> Claim {
    let fades = steps().map_err(told)?.column(2).to_owned();
    let fading: Vec<_> = (1..TOKENS.len()).filter(|&key| fades[key] < 1.0).collect();
    if fading == [1] { Ok(()) } else { Err(format!("the keys {fading:?} do")) }
}

/// The largest score adds 1 to the sum, so that it is never less.
///
/// # Errors
///
/// The sums, where one is.
pub fn sum_is_at_least_one() -> Claim {
    let sums = steps().map_err(told)?.column(4).to_owned();
    if sums.iter().all(|&sum| sum >= 1.0) { Ok(()) } else { Err(format!("the sums are {sums}")) }
}

/// Cut in two at any place, an empty part included, and merged, the row gives
/// what the recipe gives.
///
/// # Errors
///
/// The place, where it is not so.
pub fn any_split_gives_the_same() -> Claim {
    for cut in 0..=TOKENS.len() {
        let (left, right) = (met(0..cut).map_err(told)?, met(cut..TOKENS.len()).map_err(told)?);
        same(&format!("cut at {cut}"), left.merge(right).map_err(told)?, &recipe()?)?;
    }
    Ok(())
}

/// Whatever the order of the keys, the output is that of the recipe.
///
/// # Errors
///
/// The order, where it is not so.
pub fn any_order_gives_the_same() -> Claim {
    let trace = example().map_err(told)?.trace;
    let orders = orders(TOKENS.len());
    for order in &orders {
        let scores = trace.masked.row(THE).select(Axis(0), order);
        let partial = absorbed(&scores, &trace.v.select(Axis(0), order)).map_err(told)?;
        same(&format!("in the order {order:?}"), partial, &recipe()?)?;
    }
    if orders.len() == 120 { Ok(()) } else { Err(format!("there are {} orders", orders.len())) }
}

/// All orders of the numbers below n.
fn orders(n: usize) -> Vec<Vec<usize>> {
    let Some(last) = n.checked_sub(1) else { return vec![Vec::new()] };
    let with_last = |order: Vec<usize>| {
        (0..n).map(move |place| {
            let mut order = order.clone();
            order.insert(place, last);
            order
        })
    };
    orders(last).into_iter().flat_map(with_last).collect()
}

/// “The”, “cat, sat” and “on, the” merge to the same from both sides.
///
/// # Errors
///
/// The two results, where they differ by more than rounding.
pub fn merging_is_associative() -> Claim {
    let parts = [0..1, 1..SAT + 1, SAT + 1..TOKENS.len()];
    let [a, b, c] = parts.map(|keys| met(keys).map_err(told));
    let (a, b, c) = (a?, b?, c?);
    let left = a.clone().merge(b.clone()).and_then(|ab| ab.merge(c.clone())).map_err(told)?;
    let right = b.merge(c).and_then(|bc| a.merge(bc)).map_err(told)?;
    let gaps = [left.largest() - right.largest(), left.sum() - right.sum()];
    let far = gaps.iter().chain(&(left.output() - right.output())).any(|gap| gap.abs() > ROUNDING);
    if far { Err(format!("{left:?} is not {right:?}")) } else { Ok(()) }
}

/// Merging with an empty result, from either side, changes no bit.
///
/// # Errors
///
/// What came out instead.
pub fn empty_changes_nothing() -> Claim {
    let all = met(0..TOKENS.len()).map_err(told)?;
    let empty = || Partial::empty(all.output().len());
    let after = empty().and_then(|empty| all.clone().merge(empty)).map_err(told)?;
    let before = empty().and_then(|empty| empty.merge(all.clone())).map_err(told)?;
    if after == all && before == all { Ok(()) } else { Err(format!("{after:?}, {before:?}")) }
}

/// Whether a result, finished, is what was expected.
fn same(how: &str, partial: Partial<f64>, expected: &Array1<f64>) -> Claim {
    let found = partial.finish();
    let apart = (&found - expected).iter().fold(0.0, |most: f64, gap| most.max(gap.abs()));
    if apart < ROUNDING {
        Ok(())
    } else {
        Err(format!("{how} the output is {}, not {expected}", found.slice(s![..])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_six_orders_of_three() {
        let mut all = orders(3);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 6);
        assert_eq!(all[5], [2, 1, 0]);
    }

    #[test]
    fn a_row_with_a_key_left_out_is_not_the_recipe() {
        let error = same("short", met(0..4).unwrap(), &recipe().unwrap()).unwrap_err();
        assert!(error.starts_with("short the output is [1.1"), "{error}");
    }
}
