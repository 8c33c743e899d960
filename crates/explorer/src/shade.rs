//! The shades of a matrix: where each number stands between the lowest and the
//! highest, and what those are. Which colour a shade has, the page decides.

use crate::cell::Name;
use crate::json::object;
use crate::written::shown;
use attention::ndarray::Array2;

/// What the shades of a matrix mean.
#[derive(Debug)]
pub(crate) struct Legend {
    low: String,
    high: String,
    zero: f64,
}

object!(Legend { low, high, zero });

/// The numbers between which a matrix is shaded: 0 and whatever goes beyond.
pub(crate) struct Range {
    low: f64,
    high: f64,
}

impl Range {
    pub(crate) fn of(name: Name, numbers: &Array2<f64>) -> Range {
        if name == Name::Weights {
            return Range { low: 0.0, high: 1.0 };
        }
        let finite = || numbers.iter().copied().filter(|number| number.is_finite());
        Range { low: finite().fold(0.0, f64::min), high: finite().fold(0.0, f64::max) }
    }

    /// Where a number stands, from 0 to 1, to three digits.
    pub(crate) fn shade(&self, number: f64) -> f64 {
        if number <= self.low || self.high <= self.low {
            return 0.0;
        }
        let share = (number - self.low) / (self.high - self.low);
        (share * 1000.0).round() / 1000.0
    }

    pub(crate) fn legend(&self, digits: u8) -> Legend {
        Legend {
            low: shown(self.low, digits),
            high: shown(self.high, digits),
            zero: self.shade(0.0),
        }
    }
}
