//! How a number is printed, and when it is too close to a rounding boundary to
//! be printed at all.

use crate::Precision;

/// Prints a number with a fixed count of digits after the point, for prose and
/// tables: a true minus sign, `∞` for infinity, and no minus before a zero.
///
/// ```
/// assert_eq!(ledger::number(-1.234, 2), "−1.23");
/// assert_eq!(ledger::number(-0.001, 2), "0.00");
/// assert_eq!(ledger::number(f64::NEG_INFINITY, 2), "−∞");
/// ```
#[must_use]
pub fn number(value: f64, digits: u8) -> String {
    spell(value, digits, "−", "∞")
}

/// Prints a number as [`number`] does, in TeX: `-1.23`, `-\infty`.
#[must_use]
pub fn number_tex(value: f64, digits: u8) -> String {
    if value.is_nan() {
        return r"\text{NaN}".to_owned();
    }
    spell(value, digits, "-", r"\infty")
}

fn spell(value: f64, digits: u8, minus: &str, infinity: &str) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    let magnitude = if value.is_infinite() {
        infinity.to_owned()
    } else {
        format!("{:.*}", usize::from(digits), value.abs())
    };
    let is_zero = magnitude.chars().all(|c| c == '0' || c == '.');
    if value < 0.0 && !is_zero { format!("{minus}{magnitude}") } else { magnitude }
}

/// Whether another processor, whose `exp` differs in the last place, could
/// print another digit: the value lies within its own uncertainty of a point
/// where rounding changes its mind.
pub(crate) fn near_rounding_boundary(value: f64, digits: u8, precision: Precision) -> bool {
    if !value.is_finite() {
        return false;
    }
    let scaled = value.abs() * 10f64.powi(i32::from(digits));
    let distance = (scaled.fract() - 0.5).abs();
    distance <= precision.relative() * scaled.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_signs_and_infinities_as_a_typesetter_would() {
        assert_eq!(number(0.505, 1), "0.5");
        assert_eq!(number(-2.0, 0), "−2");
        assert_eq!(number(-0.0, 1), "0.0");
        assert_eq!(number(f64::INFINITY, 3), "∞");
        assert_eq!(number(f64::NAN, 3), "NaN");
        assert_eq!(number_tex(f64::NEG_INFINITY, 1), r"-\infty");
        assert_eq!(number_tex(-0.25, 2), "-0.25");
        assert_eq!(number_tex(f64::NAN, 2), r"\text{NaN}");
    }

    #[test]
    fn a_value_on_a_boundary_is_near_it() {
        let double = Precision::Double;
        assert!(near_rounding_boundary(0.125, 2, double));
        assert!(near_rounding_boundary(-0.5, 0, double));
        assert!(near_rounding_boundary(0.345 + 1e-13, 2, double));
        assert!(!near_rounding_boundary(0.125, 3, double));
        assert!(!near_rounding_boundary(0.1251, 2, double));
        assert!(!near_rounding_boundary(f64::INFINITY, 2, double));
    }

    #[test]
    fn single_precision_keeps_a_wider_distance() {
        let value = 0.345_000_3;
        assert!(near_rounding_boundary(value, 2, Precision::Single));
        assert!(!near_rounding_boundary(value, 2, Precision::Double));
    }
}
