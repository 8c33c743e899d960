//! Derivations computed again with nothing but the numbers that they show: shared
//! by the tests of the forward and of the backward pass.

use super::{list, text};
use serde_json::Value;

/// A count of an answer.
pub(crate) fn index(value: &Value) -> usize {
    value.as_u64().expect("a count") as usize
}

/// Calls `see` for every number of some lines.
pub(crate) fn visit(value: &Value, see: &mut impl FnMut(&Value)) {
    match value {
        Value::Object(members) if members.contains_key("exact") => see(value),
        Value::Object(members) => members.values().for_each(|member| visit(member, see)),
        Value::Array(elements) => elements.iter().for_each(|element| visit(element, see)),
        _ => {}
    }
}

/// A number as shown: so many units of so many digits after the point.
pub(crate) type Shown = (i128, u32);

/// None for what is not shown in full.
pub(crate) fn shown(number: &Value) -> Option<Shown> {
    let text = text(&number["shown"]).replace('−', "-");
    let digits = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    Some((text.replace('.', "").parse().ok()?, digits as u32))
}

/// Whether `rounded` is what `full` gives in its number of digits.
fn rounds_to(full: Shown, rounded: Shown) -> bool {
    let digits = full.1.max(rounded.1);
    let in_units = |number: Shown| number.0 * 10_i128.pow(digits - number.1);
    2 * (in_units(full) - in_units(rounded)).abs() <= 10_i128.pow(digits - rounded.1)
}

fn plus(a: Shown, b: Shown) -> Shown {
    let digits = a.1.max(b.1);
    (a.0 * 10_i128.pow(digits - a.1) + b.0 * 10_i128.pow(digits - b.1), digits)
}

/// Whether the numbers of a line, as shown, lead to its result, as shown.
pub(crate) fn adds_up(line: &Value) -> bool {
    fits(line).unwrap_or(false)
}

/// None where a number is too large to be shown in full.
fn fits(line: &Value) -> Option<bool> {
    let product = |left: &Value, right: &Value, product: &Value| {
        let (left, right) = (shown(left)?, shown(right)?);
        Some(rounds_to((left.0 * right.0, left.1 + right.1), shown(product)?))
    };
    let sum = |terms: &mut dyn Iterator<Item = &Value>, sum: &Value| {
        let terms: Option<Vec<Shown>> = terms.map(shown).collect();
        let total = terms?.into_iter().fold((0, 0), plus);
        Some(rounds_to(total, shown(sum)?))
    };
    match text(&line["kind"]) {
        "products" => {
            for term in list(&line["terms"]) {
                if !product(&term["left"], &term["right"], &term["product"])? {
                    return Some(false);
                }
            }
            sum(&mut list(&line["terms"]).iter().map(|term| &term["product"]), &line["sum"])
        }
        "scaled" => product(&line["score"], &line["factor"], &line["result"]),
        "sum" => sum(&mut list(&line["terms"]).iter(), &line["sum"]),
        "times" => product(&line["left"], &line["right"], &line["result"]),
        "minus" => sum(&mut [&line["right"], &line["result"]].into_iter(), &line["left"]),
        "squares" => {
            for term in list(&line["terms"]) {
                let [right, difference] = [&term["right"], &term["difference"]];
                if !sum(&mut [right, difference].into_iter(), &term["left"])?
                    || !product(difference, difference, &term["square"])?
                {
                    return Some(false);
                }
            }
            sum(&mut list(&line["terms"]).iter().map(|term| &term["square"]), &line["sum"])
        }
        "quotient" => {
            let [top, bottom] = ["top", "bottom"].map(|name| shown(&line[name]));
            let (quotient, bottom) = (shown(&line["result"])?, bottom?);
            let product = (quotient.0 * bottom.0, quotient.1 + bottom.1);
            // Half of the quotient's last digit times the bottom, on either side.
            let (top, digits) = (top?, product.1);
            let apart = (product.0 - top.0 * 10_i128.pow(digits - top.1)).abs();
            Some(2 * apart <= bottom.0 * 10_i128.pow(digits - quotient.1 - bottom.1))
        }
        "exponentials" => {
            let largest = shown(&line["largest"])?;
            for term in list(&line["terms"]).iter().filter(|term| term["closed"] == false) {
                let (score, difference) = (shown(&term["score"])?, shown(&term["difference"])?);
                let exponential = shown(&term["exponential"])?;
                let value = |(units, digits): Shown| units as f64 / 10_f64.powi(digits as i32);
                let apart = (value(difference).exp() - value(exponential)).abs();
                if plus(difference, largest) != plus(score, (0, 0)) || apart > 5e-4 {
                    return Some(false);
                }
            }
            Some(true)
        }
        // The same number on both sides, or no number.
        _ => Some(true),
    }
}
