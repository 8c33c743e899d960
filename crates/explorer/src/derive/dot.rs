//! Dot products told term by term: the projections, the scores and the output,
//! and nearly everything of the backward pass.

use super::line::{Line, Product};
use super::{Account, Term, terms};
use crate::cell::{Name, Place};
use crate::head::Computed;
use crate::written::{Num, Rounding};

/// More digits than that no product shows.
const MOST_DIGITS: u8 = 4;
/// The digits of a product whose factors are not shown with all of theirs.
const DIGITS: u8 = 3;

/// The account of a cell that is a dot product.
pub(super) fn account(head: &Computed, place: Place, sum: Num) -> Account {
    let (pairs, digits) = numbers(head, place.0, terms(head, place));
    told(pairs, digits, sum)
}

/// A dot product in the derivation of a matrix, by name: its sum, its line, and the
/// same in words. It is summed from left to right, as everything in `attention`.
pub(super) fn named(
    head: &Computed,
    derived: Name,
    name: &'static str,
    terms: Vec<Term>,
    rounding: &mut Rounding,
) -> (Num, Line, String) {
    let (pairs, digits) = numbers(head, derived, terms);
    let sum = pairs.iter().fold(0.0, |sum, (_, [left, right])| sum + left.value * right.value);
    let sum = Num::new(sum, head.closeness(derived));
    let (line, spoken) = line(Some(name), pairs, digits, sum.clone(), rounding);
    (sum, line, spoken)
}

/// The numbers of some terms, and how many digits their products show.
fn numbers(head: &Computed, derived: Name, terms: Vec<Term>) -> (Vec<(String, [Num; 2])>, u8) {
    let exact = terms.first().and_then(|(_, [Place(left, ..), Place(right, ..)])| {
        Some([head.exact_digits(*left)?, head.exact_digits(*right)?])
    });
    let digits = product_digits(exact, head.closeness(derived));
    let number = |(label, places): Term| (label, places.map(|place| head.number(place, derived)));
    (terms.into_iter().map(number).collect(), digits)
}

/// The account of `left·right + left·right + … = sum`. `exact` are the digits
/// after the point that each left and right number has, if they are few.
pub(crate) fn products(
    pairs: Vec<(String, [Num; 2])>,
    exact: Option<[u8; 2]>,
    sum: Num,
) -> Account {
    told(pairs, product_digits(exact, DIGITS), sum)
}

fn told(pairs: Vec<(String, [Num; 2])>, digits: u8, sum: Num) -> Account {
    let mut rounding = Rounding::default();
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
