//! Where a value lies along an axis, and which values are marked on it. Nothing
//! is drawn here.

use ledger::Axis;

/// The part of an axis that is shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) ticks: Vec<Tick>,
    logarithmic: bool,
}

/// A value that is marked on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

/// How far an axis reaches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reach {
    /// From the least to the greatest value.
    Exact,
    /// From a tick to a tick; from zero if the values come near it.
    Ticks,
    /// From a tick to a tick, zero among them.
    TicksAndZero,
}

impl Scale {
    /// The scale for values of an axis, with about `most` ticks.
    pub(super) fn new(
        axis: &Axis,
        values: impl IntoIterator<Item = f64>,
        reach: Reach,
        most: usize,
    ) -> Result<Scale, String> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            check(axis, value)?;
            low = low.min(value);
            high = high.max(value);
        }
        if axis.logarithmic {
            return Ok(logarithmic(low, high, reach, most));
        }
        let near_zero = reach == Reach::Ticks && low > 0.0 && low < high / 2.0;
        if near_zero || reach == Reach::TicksAndZero {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        Ok(linear(low, high, reach, most))
    }

    /// Where a value lies between the ends, from 0 to 1.
    pub(super) fn fraction(&self, value: f64) -> f64 {
        if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

fn check(axis: &Axis, value: f64) -> Result<(), String> {
    let label = &axis.label;
    if !value.is_finite() {
        Err(format!("a value on the axis `{label}` is not finite: {value}"))
    } else if axis.logarithmic && value <= 0.0 {
        Err(format!("a value on the logarithmic axis `{label}` is not positive: {value}"))
    } else {
        Ok(())
    }
}

/// Ticks at multiples of 1, 2 or 5 times a power of ten.
pub(super) fn linear(low: f64, high: f64, reach: Reach, most: usize) -> Scale {
    let (mut low, mut high) = widened(low, high);
    let step = step((high - low) / most as f64);
    if reach != Reach::Exact {
        low = (low / step + SLACK).floor() * step;
        high = (high / step - SLACK).ceil() * step;
    }
    Scale { low, high, ticks: linear_ticks(low, high, step), logarithmic: false }
}

/// What a rounding error may add to a whole number of steps.
const SLACK: f64 = 1e-9;

/// The least step not below `least` that is 1, 2 or 5 times a power of ten.
pub(super) fn step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let mantissa = [1.0, 2.0, 5.0].into_iter().find(|m| m * power >= least * (1.0 - SLACK));
    mantissa.unwrap_or(10.0) * power
}

pub(super) fn linear_ticks(low: f64, high: f64, step: f64) -> Vec<Tick> {
    let digits = (-(step.log10() + SLACK).floor()).clamp(0.0, 12.0) as u8;
    let (first, last) = ((low / step - SLACK).ceil() as i64, (high / step + SLACK).floor() as i64);
    (first..=last)
        .map(|index| {
            let value = index as f64 * step;
            Tick { value, label: grouped(&ledger::number(value, digits)) }
        })
        .collect()
}

/// Ticks at 1, 2 and 5 times powers of ten; at fewer and fewer powers of ten
/// where those would be too many; at equal differences where they are too few.
fn logarithmic(low: f64, high: f64, reach: Reach, most: usize) -> Scale {
    let (low, high) = if low < high { (low, high) } else { (low / 2.0, high * 2.0) };
    let ladders = std::iter::once((&[1, 2, 5][..], 1)).chain((1..).map(|every| (&[1][..], every)));
    for (mantissas, every) in ladders {
        let (low, high, most) = match reach {
            Reach::Exact => (low, high, most),
            Reach::Ticks | Reach::TicksAndZero => {
                let (low, high) = ends(low, high, mantissas);
                (low, high, most + 1)
            }
        };
        let mut ticks = ladder(low, high, mantissas, every);
        ticks
            .retain(|tick| tick.value >= low * (1.0 - SLACK) && tick.value <= high * (1.0 + SLACK));
        if ticks.len() < 2 {
            break;
        }
        if ticks.len() <= most {
            return Scale { low, high, ticks, logarithmic: true };
        }
    }
    let ticks = linear_ticks(low, high, step((high - low) / most as f64));
    Scale { low, high, ticks, logarithmic: true }
}

/// The last step of a ladder below a range, and the first above it.
fn ends(low: f64, high: f64, mantissas: &[u8]) -> (f64, f64) {
    let steps = ladder(low, high, mantissas, 1).into_iter().map(|tick| tick.value);
    let below = steps.clone().filter(|step| *step <= low * (1.0 + SLACK)).fold(0.0, f64::max);
    let above = steps.filter(|step| *step >= high * (1.0 - SLACK)).fold(f64::INFINITY, f64::min);
    (if below > 0.0 { below } else { low }, if above.is_finite() { above } else { high })
}

/// The mantissas times every so many powers of ten, from below `low` to above
/// `high`.
fn ladder(low: f64, high: f64, mantissas: &[u8], every: i32) -> Vec<Tick> {
    let first = (low.log10() + SLACK).floor() as i32;
    let last = (high.log10() - SLACK).ceil() as i32;
    let (first, last) = (first.div_euclid(every), -(-last).div_euclid(every));
    (first..=last)
        .flat_map(|index| mantissas.iter().map(move |&mantissa| (mantissa, index * every)))
        .map(|(mantissa, power)| Tick {
            value: f64::from(mantissa) * 10f64.powi(power),
            label: power_label(mantissa, power),
        })
        .collect()
}

/// `0.05`, `200`, `10⁶`, `2·10⁶`.
fn power_label(mantissa: u8, power: i32) -> String {
    if (-3..=4).contains(&power) {
        let digits = (-power).max(0) as u8;
        return grouped(&ledger::number(f64::from(mantissa) * 10f64.powi(power), digits));
    }
    let times = if mantissa == 1 { String::new() } else { format!("{mantissa}·") };
    let superscript: String = power.to_string().chars().map(superscript).collect();
    format!("{times}10{superscript}")
}

/// A digit or a minus sign, raised.
fn superscript(c: char) -> char {
    match c {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        other => other,
    }
}

/// Thousands set apart by a narrow space, from five digits on.
fn grouped(number: &str) -> String {
    let start = number.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let end = number.find('.').unwrap_or(number.len());
    let whole = &number[start..end];
    if whole.len() < 5 || !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return number.to_owned();
    }
    let mut grouped = number[..start].to_owned();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped + &number[end..]
}

/// A range that is not a single point.
fn widened(low: f64, high: f64) -> (f64, f64) {
    if low < high {
        return (low, high);
    }
    let by = if low == 0.0 { 1.0 } else { low.abs() / 2.0 };
    (low - by, high + by)
}
