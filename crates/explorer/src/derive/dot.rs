//! Dot products told term by term: the projections, the scores and the output,
//! and nearly everything of the backward pass.

use super::line::{Line, Product};
use super::{Account, factors};
use crate::cell::{Name, Place};
use crate::head::Computed;
use crate::written::{Num, Rounding};

/// More digits than that no product shows.
const MOST_DIGITS: u8 = 4;
/// The digits of a product whose factors are not shown with all of theirs.
const DIGITS: u8 = 3;

/// What each term of a matrix's dot products is about; nothing if it has none.
pub(super) fn labels(head: &Computed, name: Name) -> &[String] {
    match name {
        Name::Queries | Name::Keys | Name::Values => head.columns(Name::X),
        Name::Scores => head.columns(Name::Queries),
        Name::DWeights => head.columns(Name::Values),
        Name::Output
        | Name::DValues
        | Name::DQueries
        | Name::DKeys
        | Name::DQueryWeights
        | Name::DKeyWeights
        | Name::DValueWeights => head.rows(Name::X),
        _ => &[],
    }
}

/// The account of a cell that is a dot product.
pub(super) fn account(head: &Computed, Place(name, row, column): Place, sum: Num) -> Account {
    let number = |place @ Place(of, row, column): Place| {
        Num::of(place, head.numbers(of)[[row, column]], head.close_digits(of, name))
    };
    let pairs = labels(head, name).iter().enumerate().filter_map(|(term, label)| {
        let factors = factors(name, row, column, term)?;
        Some((label.clone(), factors.map(number)))
    });
    let pairs = pairs.collect();
    let exact = factors(name, row, column, 0).and_then(|[Place(left, ..), Place(right, ..)]| {
        Some([head.exact_digits(left)?, head.exact_digits(right)?])
    });
    let digits = product_digits(exact, head.closeness(name));
    told(pairs, digits, sum)
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

/// The line of a dot product, and the same in words. `name` is what the sum is
/// called.
pub(super) fn line(
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
