//! Numbers as they are shown, each with its exact value beside it; and whether
//! those shown still fit each other, which rounding can undo.

use crate::cell::Place;
use crate::json::object;
use attention::Real as _;

/// From here on, a number is shown with three digits and a power of ten.
const LARGE: f64 = 1e5;

/// A number in a derivation.
#[derive(Clone, Debug)]
pub(crate) struct Num {
    pub(crate) shown: String,
    pub(crate) value: f64,
    pub(crate) from: Option<Place>,
}

object!(Num { shown, exact as value, from });

impl Num {
    /// A number shown with so many digits after the point.
    pub(crate) fn new(value: f64, digits: u8) -> Num {
        Num { shown: shown(value, digits), value, from: None }
    }

    /// The number of a cell.
    pub(crate) fn of(place: Place, value: f64, digits: u8) -> Num {
        Num { from: Some(place), ..Num::new(value, digits) }
    }
}

/// A number with so many digits after the point, or large ones as `1.23·10⁵`.
pub(crate) fn shown(value: f64, digits: u8) -> String {
    if !value.is_finite() || value.abs() < LARGE {
        return ledger::number(value, digits);
    }
    let text = format!("{:.2e}", value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let sign = if value < 0.0 { "−" } else { "" };
    format!("{sign}{mantissa}·10{}", exponent.chars().map(superscript).collect::<String>())
}

fn superscript(digit: char) -> char {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    digit.to_digit(10).map_or(digit, |digit| RAISED[digit as usize])
}

/// A shown number, exactly: `units` of the last of `digits` after the point.
/// What is shown in full is small enough for products of two to fit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Decimal {
    units: i64,
    digits: u32,
}

impl Decimal {
    /// None for infinities and for powers of ten.
    fn read(shown: &str) -> Option<Decimal> {
        let (sign, text) = match shown.strip_prefix('−') {
            Some(text) => (-1, text),
            None => (1, shown),
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let units: i64 = format!("{whole}{fraction}").parse().ok()?;
        Some(Decimal { units: sign * units, digits: fraction.len() as u32 })
    }

    /// The count of units of the last of so many digits, no fewer than it has.
    fn in_digits(self, digits: u32) -> i64 {
        self.units * 10_i64.pow(digits.saturating_sub(self.digits))
    }

    fn times(self, other: Decimal) -> Decimal {
        Decimal { units: self.units * other.units, digits: self.digits + other.digits }
    }

    fn plus(self, other: Decimal) -> Decimal {
        let digits = self.digits.max(other.digits);
        Decimal { units: self.in_digits(digits) + other.in_digits(digits), digits }
    }

    /// Whether this is what `exactly` gives when rounded to as many digits.
    fn rounds(self, exactly: Decimal) -> bool {
        let digits = self.digits.max(exactly.digits);
        let apart = self.in_digits(digits) - exactly.in_digits(digits);
        2 * apart.abs() <= 10_i64.pow(digits - self.digits)
    }

    /// The nearest float: both counts are small enough to be exact in one.
    fn value(self) -> f64 {
        self.units as f64 / 10_i64.pow(self.digits) as f64
    }

    fn places(self) -> u8 {
        u8::try_from(self.digits).unwrap_or(u8::MAX)
    }

    fn shown(self) -> String {
        ledger::number(self.value(), self.places())
    }

    /// The number with fewer digits, halves away from 0.
    fn rounded(self, digits: u32) -> String {
        let lost = 10_i64.pow(self.digits.saturating_sub(digits));
        let units = (self.units + self.units.signum() * (lost / 2)) / lost;
        Decimal { units, digits: self.digits.min(digits) }.shown()
    }
}

/// Watches whether the numbers shown in a derivation fit each other.
#[derive(Debug, Default)]
pub(crate) struct Rounding {
    /// The first misfit, in words.
    misfit: Option<String>,
    /// Whether a number is too large to be shown in full.
    large: bool,
}

impl Rounding {
    /// `left · right = product`
    pub(crate) fn product(&mut self, left: &Num, right: &Num, product: &Num) {
        let Some([a, b, c]) = self.read([left, right, product]) else { return };
        self.expect(c.rounds(a.times(b)), || {
            let would_be = a.times(b).rounded(c.digits);
            format!("{} times {} is {would_be}, not {}", left.shown, right.shown, product.shown)
        });
    }

    /// `terms[0] + terms[1] + … = sum`
    pub(crate) fn sum<'a>(&mut self, terms: impl IntoIterator<Item = &'a Num>, sum: &Num) {
        let Some([shown]) = self.read([sum]) else { return };
        let mut total = Decimal { units: 0, digits: 0 };
        for term in terms {
            let Some([term]) = self.read([term]) else { return };
            total = total.plus(term);
        }
        self.expect(shown.rounds(total), || {
            format!("the terms add up to {}, not to {}", total.shown(), sum.shown)
        });
    }

    /// `from − less = difference`
    pub(crate) fn difference(&mut self, from: &Num, less: &Num, difference: &Num) {
        let Some([a, b, c]) = self.read([from, less, difference]) else { return };
        self.expect(a.rounds(b.plus(c)), || {
            let would_be = a.plus(Decimal { units: -b.units, ..b }).shown();
            format!("{} minus {} is {would_be}, not {}", from.shown, less.shown, difference.shown)
        });
    }

    /// `exp(power) = exponential`
    pub(crate) fn exponential(&mut self, power: &Num, exponential: &Num) {
        let Some([a, b]) = self.read([power, exponential]) else { return };
        let would_be = a.value().portable_exp();
        let apart = (would_be - b.value()).abs();
        self.expect(apart <= 0.5 / 10_i64.pow(b.digits) as f64, || {
            let would_be = ledger::number(would_be, b.places());
            format!("the exponential of {} is {would_be}, not {}", power.shown, exponential.shown)
        });
    }

    /// `top / bottom = quotient`
    pub(crate) fn quotient(&mut self, top: &Num, bottom: &Num, quotient: &Num) {
        let Some([a, b, c]) = self.read([top, bottom, quotient]) else { return };
        // Half a last digit of the quotient, times the bottom, is how far the
        // product of the two may lie from the top.
        let product = c.times(b);
        let digits = product.digits.max(a.digits);
        let apart = product.in_digits(digits) - a.in_digits(digits);
        self.expect(2 * apart.abs() <= b.in_digits(digits - c.digits), || {
            let would_be = ledger::number(a.value() / b.value(), c.places());
            format!(
                "{} divided by {} is {would_be}, not {}",
                top.shown, bottom.shown, quotient.shown
            )
        });
    }

    /// What there is to say of rounding, if there is.
    pub(crate) fn sentence(&self) -> Option<String> {
        let misfit = self.misfit.as_ref().map(|misfit| {
            format!(
                "Numbers are rounded to be shown, but computed with all of their digits: \
                 as shown, {misfit}."
            )
        });
        let large = "Numbers from 100\u{202f}000 on are shown with three digits, but computed \
                     with all of them.";
        match (misfit, self.large) {
            (Some(misfit), true) => Some(format!("{misfit} {large}")),
            (None, true) => Some(large.to_owned()),
            (misfit, false) => misfit,
        }
    }

    /// The numbers as shown; None, and noted, where one is not shown in full.
    /// An infinity is exact and fits whatever it stands in.
    fn read<const N: usize>(&mut self, numbers: [&Num; N]) -> Option<[Decimal; N]> {
        let mut decimals = [Decimal { units: 0, digits: 0 }; N];
        for (decimal, number) in decimals.iter_mut().zip(numbers) {
            let Some(read) = Decimal::read(&number.shown) else {
                self.large |= number.value.is_finite();
                return None;
            };
            *decimal = read;
        }
        Some(decimals)
    }

    fn expect(&mut self, fits: bool, misfit: impl FnOnce() -> String) {
        if !fits && self.misfit.is_none() {
            self.misfit = Some(misfit());
        }
    }
}
