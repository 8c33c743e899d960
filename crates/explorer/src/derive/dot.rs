//! Dot products told term by term: the projections, the scores and the output,
//! and nearly everything of the backward pass.

use super::line::{Line, Product};
use super::{Account, Term, terms};
use crate::cell::Place;
use crate::head::Computed;
use crate::written::{Num, Rounding};

/// More digits than that no product shows.
const MOST_DIGITS: u8 = 4;
/// The digits of a product whose factors are not shown with all of theirs.
const DIGITS: u8 = 3;

/// The account of a cell that is a dot product.
pub(super) fn account(head: &Computed, place: Place, sum: Num) -> Account {
    let mut rounding = Rounding::default();
    let (line, spoken) = of(head, place, None, terms(head, place), sum, &mut rounding);
    Account::new(vec![line], spoken).rounded(&rounding)
}

/// The line of a dot product in the derivation of a cell, and the same in words.
/// `name` is what the sum is called.
pub(super) fn of(
    head: &Computed,
    Place(derived, ..): Place,
    name: Option<&'static str>,
    terms: Vec<Term>,
    sum: Num,
    rounding: &mut Rounding,
) -> (Line, String) {
    let exact = terms.first().and_then(|(_, [Place(left, ..), Place(right, ..)])| {
        Some([head.exact_digits(*left)?, head.exact_digits(*right)?])
    });
    let digits = product_digits(exact, head.closeness(derived));
    let numbers = |(label, places): Term| (label, places.map(|place| head.number(place, derived)));
    line(name, terms.into_iter().map(numbers).collect(), digits, sum, rounding)
}

/// The account of `left·right + left·right + … = sum`. `exact` are the digits
/// after the point that each left and right number has, if they are few.
pub(crate) fn products(
    pairs: Vec<(String, [Num; 2])>,
    exact: Option<[u8; 2]>,
    sum: Num,
) -> Account {
    let mut rounding = Rounding::default();
    let digits = product_digits(exact, DIGITS);
    let (line, spoken) = line(None, pairs, digits, sum, &mut rounding);
    Account::new(vec![line], spoken).rounded(&rounding)
}

fn line(
    name: Option<&'static str>,
    pairs: Vec<(String, [Num; 2])>,
    digits: u8,
    sum: Num,
    rounding: &mut Rounding,
) -> (Line, String) {
    let terms: Vec<Product> = pairs
        .into_iter()
        .map(|(label, [left, right])| {
            let product = Num::new(left.value * right.value, digits);
            rounding.product(&left, &right, &product);
            Product { label, left, right, product }
        })
        .collect();
    rounding.sum(terms.iter().map(|term| &term.product), &sum);
    let spoken = spoken(&terms, &sum);
    (Line::Products { name, terms, sum }, spoken)
}

/// All the digits of a product, if the factors are shown with all of theirs.
fn product_digits(exact: Option<[u8; 2]>, otherwise: u8) -> u8 {
    match exact {
        Some([left, right]) if left.max(right) <= 3 => (left + right).min(MOST_DIGITS),
        _ => otherwise,
    }
}

fn spoken(terms: &[Product], sum: &Num) -> String {
    let spelled: Vec<String> = terms
        .iter()
        .map(|Product { left, right, product, .. }| {
            format!("{} times {} is {}", left.shown, right.shown, product.shown)
        })
        .collect();
    format!("{}. The sum is {}.", spelled.join(", plus "), sum.shown)
}
