//! How counts, bytes and times are written: three digits and a unit that fits.
//! Counts that are short enough are written in full.

use crate::written;

/// Counts from here on are rounded.
const ROUNDED: u64 = 1_000_000;
/// What rounds up to 1 of a unit is written in that unit.
const NEARLY: f64 = 0.9995;

const WORDS: [(f64, &str); 3] = [(1e12, "trillion"), (1e9, "billion"), (1e6, "million")];
const BYTES: [(f64, &str); 7] = [
    ((1_u64 << 60) as f64, "EiB"),
    ((1_u64 << 50) as f64, "PiB"),
    ((1_u64 << 40) as f64, "TiB"),
    ((1_u64 << 30) as f64, "GiB"),
    ((1_u64 << 20) as f64, "MiB"),
    (1024.0, "KiB"),
    (1.0, "bytes"),
];
const TIMES: [(f64, &str); 8] = [
    (365.25 * 86_400.0, "years"),
    (86_400.0, "days"),
    (3600.0, "h"),
    (60.0, "min"),
    (1.0, "s"),
    (1e-3, "ms"),
    (1e-6, "µs"),
    (1e-9, "ns"),
];

/// `4096`, `786 432`, `2.15 billion`, `1.23·10¹⁵`
pub(super) fn count(count: u64) -> String {
    let size = count as f64;
    if count < ROUNDED {
        grouped(count)
    } else if size >= 1000.0 * NEARLY * WORDS[0].0 {
        written::shown(size, 0)
    } else {
        in_units(size, &WORDS)
    }
}

/// `66.0 MiB`
pub(super) fn bytes(bytes: u64) -> String {
    if bytes < 1024 { format!("{bytes} bytes") } else { in_units(bytes as f64, &BYTES) }
}

/// `13.7 ms`
pub(super) fn time(seconds: f64) -> String {
    in_units(seconds, &TIMES)
}

/// A number from 0 on with three digits, or more before the point.
pub(super) fn three_digits(number: f64) -> String {
    let digits = match number {
        _ if number < 9.995 => 2,
        _ if number < 99.95 => 1,
        _ => 0,
    };
    written::shown(number, digits)
}

/// `×4`, `×2.06`
pub(super) fn factor(factor: f64) -> String {
    let digits = if factor.fract() == 0.0 { 0 } else { 2 };
    format!("×{}", written::shown(factor, digits))
}

/// All digits, in groups of three where there are more than four.
pub(super) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// In the largest unit of which there is at least one, or in the smallest.
fn in_units(number: f64, units: &[(f64, &str)]) -> String {
    let fits = units.iter().find(|(size, _)| number >= size * NEARLY);
    let (size, unit) = fits.or(units.last()).copied().unwrap_or((1.0, ""));
    format!("{}\u{a0}{unit}", three_digits(number / size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_short() {
        for (number, text) in [
            (0, "0"),
            (4096, "4096"),
            (16_384, "16\u{202f}384"),
            (999_999, "999\u{202f}999"),
            (1_000_000, "1.00\u{a0}million"),
            (2_147_483_648, "2.15\u{a0}billion"),
            (99_960_000, "100\u{a0}million"),
            (999_600_000, "1.00\u{a0}billion"),
            (12_300_000_000_000, "12.3\u{a0}trillion"),
            (999_600_000_000_000, "1.00·10¹⁵"),
            (u64::MAX, "1.84·10¹⁹"),
        ] {
            assert_eq!(count(number), text);
        }
    }

    #[test]
    fn bytes_and_times_have_the_unit_that_fits() {
        assert_eq!(bytes(600), "600 bytes");
        assert_eq!(bytes(1024), "1.00\u{a0}KiB");
        assert_eq!(bytes(66 << 20), "66.0\u{a0}MiB");
        assert_eq!(bytes((1 << 30) - 1), "1.00\u{a0}GiB");
        assert_eq!(bytes(u64::MAX), "16.0\u{a0}EiB");
        assert_eq!(time(0.0137), "13.7\u{a0}ms");
        assert_eq!(time(59.99), "1.00\u{a0}min");
        assert_eq!(time(1.5e-12), "0.00\u{a0}ns");
        assert_eq!(time(3e13), "9.51·10⁵\u{a0}years");
        assert_eq!([factor(4.0), factor(2.0617)], ["×4", "×2.06"]);
    }
}
