//! Numbers as a reader types them: read, checked and stepped in decimals, never
//! in binary, so that 0.1 and two steps of 0.1 more make 0.3.

use std::fmt;

/// How many digits after the point a typed number may have.
pub(crate) const DECIMALS: u8 = 3;
/// One, in units of the last digit.
const ONE: i64 = 1000;
/// No typed number is further from 0 than this.
const LARGEST: i64 = 1000 * ONE;
/// What an arrow key adds.
const STEP: i64 = ONE / 10;

/// A typed number: a whole count of thousandths, from −1000 to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Typed(i64);

impl Typed {
    /// Reads what was typed.
    ///
    /// Accepted besides `-0.5`: a true minus, a plus, `.5`, `5.`, `1e-3`, and
    /// spaces around the number. The error is a sentence for the reader.
    pub(crate) fn read(typed: &str) -> Result<Typed, String> {
        let text = typed.trim();
        if text.is_empty() {
            return Err("There is no number here; type one, such as 0.5.".to_owned());
        }
        if let Some(sentence) = special(text) {
            return Err(sentence);
        }
        let spelled = Spelled::read(text).ok_or_else(|| {
            format!("“{}” is not a number; type one, such as 0.5.", shortened(text))
        })?;
        spelled.typed(text)
    }

    /// The number, this many tenths more, kept within −1000 to 1000.
    pub(crate) fn stepped(self, tenths: i64) -> Typed {
        let stepped = self.0.saturating_add(tenths.saturating_mul(STEP));
        Typed(stepped.clamp(-LARGEST, LARGEST))
    }

    /// The typed number nearest to `value`, to so many digits after the point.
    /// What is not a number counts as 0.
    pub(crate) fn nearest(value: f64, digits: u32) -> Typed {
        let unit = ONE / 10_i64.pow(digits.min(u32::from(DECIMALS)));
        // A float becomes the nearest integer that the type has; NaN becomes 0.
        let units = (value * ONE as f64 / unit as f64).round() as i64;
        Typed(units.saturating_mul(unit).clamp(-LARGEST, LARGEST))
    }

    /// The number as a float: the nearest there is.
    pub(crate) fn value(self) -> f64 {
        self.0 as f64 / ONE as f64
    }

    /// How many digits after the point it needs.
    pub(crate) fn decimals(self) -> u8 {
        let mut decimals = DECIMALS;
        let mut units = self.0;
        while decimals > 0 && units % 10 == 0 {
            units /= 10;
            decimals -= 1;
        }
        decimals
    }
}

/// The shortest form, with the hyphen that keyboards have: `-0.5`.
impl fmt::Display for Typed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (units, thousandths) = (self.0.abs() / ONE, self.0.abs() % ONE);
        if thousandths == 0 {
            return write!(f, "{sign}{units}");
        }
        let fraction = format!("{thousandths:03}");
        write!(f, "{sign}{units}.{}", fraction.trim_end_matches('0'))
    }
}

/// What can be said of texts that people and programs write for no number at all.
fn special(text: &str) -> Option<String> {
    let word = text.trim_start_matches(['+', '-', '−']).to_ascii_lowercase();
    if word == "nan" {
        return Some("“NaN” stands for no number at all; type one, such as 0.5.".to_owned());
    }
    if ["∞", "inf", "infinity"].contains(&word.as_str()) {
        return Some(too_large(text));
    }
    let pointed = text.replacen(',', ".", 1);
    if pointed != text && Spelled::read(&pointed).is_some() {
        return Some(format!("Write a point, not a comma: {}.", shortened(&pointed)));
    }
    None
}

fn too_large(text: &str) -> String {
    format!("{} is too large here; type a number from −1000 to 1000.", shortened(text))
}

/// The beginning of a text, to be quoted.
pub(crate) fn shortened(text: &str) -> String {
    const KEPT: usize = 16;
    if text.chars().count() <= KEPT {
        return text.to_owned();
    }
    text.chars().take(KEPT).chain(['…']).collect()
}

/// A decimal number of any size: its digits, and where the point is.
struct Spelled {
    negative: bool,
    /// From the first that is not 0.
    digits: Vec<u8>,
    /// How many of the digits, perhaps more than there are, stand before the point.
    before_point: i64,
}

impl Spelled {
    fn read(text: &str) -> Option<Spelled> {
        let (negative, unsigned) = match text.strip_prefix(['-', '−']) {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, read_exponent(exponent)?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        if all.is_empty() || !all.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let zeros = all.iter().take_while(|&&digit| digit == b'0').count();
        let digits: Vec<u8> = all[zeros..].iter().map(|digit| digit - b'0').collect();
        let before_point = whole.len() as i64 - zeros as i64 + exponent;
        Some(Spelled { negative, digits, before_point })
    }

    fn typed(&self, text: &str) -> Result<Typed, String> {
        if self.digits.is_empty() {
            return Ok(Typed(0));
        }
        let thousandths = (0..self.before_point + i64::from(DECIMALS)).try_fold(0, |sum, place| {
            let digit = usize::try_from(place).ok().and_then(|place| self.digits.get(place));
            let sum = sum * 10 + i64::from(digit.copied().unwrap_or(0));
            (sum <= LARGEST).then_some(sum)
        });
        let thousandths = thousandths.ok_or_else(|| too_large(text))?;
        let typed = Typed(if self.negative { -thousandths } else { thousandths });
        let kept = usize::try_from(self.before_point + i64::from(DECIMALS)).unwrap_or(0);
        let lost = self.digits.iter().skip(kept);
        if lost.clone().all(|&digit| digit == 0) {
            return Ok(typed);
        }
        if thousandths == LARGEST {
            return Err(too_large(text));
        }
        Err(format!(
            "{} has more than {DECIMALS} digits after the point; type {typed}, for example.",
            shortened(text)
        ))
    }
}

/// An exponent, however long; beyond what matters they are all alike.
fn read_exponent(text: &str) -> Option<i64> {
    const BEYOND: i64 = 100_000;
    let (sign, digits) = match text.strip_prefix(['-', '−']) {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let add = |size: i64, byte: u8| (size * 10 + i64::from(byte - b'0')).min(BEYOND);
    Some(sign * digits.bytes().fold(0, add))
}
