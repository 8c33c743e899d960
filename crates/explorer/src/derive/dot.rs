//! Dot products told term by term: the projections, the scores and the output.

use super::line::{Line, Product};
use super::{Account, factors};
use crate::cell::{Name, Place};
use crate::head::Computed;
use crate::written::{Num, Rounding};

/// More digits than that no product shows.
const MOST_DIGITS: u8 = 4;

/// How many terms the dot products of a matrix have; none if it has no such.
pub(super) fn terms(head: &Computed, name: Name) -> usize {
    match name {
        Name::Queries | Name::Keys | Name::Values => head.numbers(Name::X).ncols(),
        Name::Scores => head.numbers(Name::Queries).ncols(),
        Name::Output => head.length(),
        _ => 0,
    }
}

/// The account of a cell that is a dot product.
pub(super) fn account(head: &Computed, Place(name, row, column): Place, sum: Num) -> Account {
    let labels = match name {
        Name::Scores => head.columns(Name::Queries),
        Name::Output => head.rows(Name::Values),
        _ => head.columns(Name::X),
    };
    let number = |place @ Place(name, row, column): Place| {
        Num::of(place, head.numbers(name)[[row, column]], head.close_digits(name))
    };
    let pairs = (0..terms(head, name)).zip(labels).filter_map(|(term, label)| {
        let factors = factors(name, row, column, term)?;
        Some((label.clone(), factors.map(number)))
    });
    let pairs = pairs.collect();
    let exact = factors(name, row, column, 0).and_then(|[Place(left, ..), Place(right, ..)]| {
        Some([head.exact_digits(left)?, head.exact_digits(right)?])
    });
    products(pairs, exact, sum)
}

/// The account of `left·right + left·right + … = sum`. `exact` are the digits
/// after the point that each left and right number has, if they are few.
pub(crate) fn products(
    pairs: Vec<(String, [Num; 2])>,
    exact: Option<[u8; 2]>,
    sum: Num,
) -> Account {
    let digits = product_digits(exact);
    let mut rounding = Rounding::default();
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
    Account::new(vec![Line::Products { terms, sum }], spoken).rounded(&rounding)
}

/// All the digits of a product, if the factors are shown with all of theirs.
fn product_digits(exact: Option<[u8; 2]>) -> u8 {
    match exact {
        Some([left, right]) if left.max(right) <= 3 => (left + right).min(MOST_DIGITS),
        _ => 3,
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
