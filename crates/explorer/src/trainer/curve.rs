//! The loss curve as it is drawn: a line on a square of 1000, and what stands at
//! its axes. They grow when the line does.

use crate::json::object;
use crate::written::shown;
use std::fmt::Write as _;

/// The side of the square.
const SIDE: f64 = 1000.0;
/// How many points the line has at most, about.
const POINTS: usize = 250;
/// How many steps the horizontal axis can show, and how far apart its ticks are.
const WIDTHS: [(usize, usize); 3] = [(150, 50), (400, 100), (1000, 250)];
/// How high the vertical axis is at least.
const LOWEST_TOP: f64 = 3.0;

/// A line and its axes.
pub(super) struct Curve {
    /// The points of an SVG polyline, on a square of 1000; y goes down.
    line: String,
    x: Vec<Tick>,
    y: Vec<Tick>,
}

object!(Curve { line, x, y });

/// A number at an axis.
struct Tick {
    /// Where it stands, from 0 to 1; of the vertical axis, from below.
    at: f64,
    text: String,
}

object!(Tick { at, text });

impl Curve {
    pub(super) fn of(losses: &[f64]) -> Curve {
        let steps = losses.len().saturating_sub(1);
        let (width, apart) =
            WIDTHS.into_iter().find(|(width, _)| steps <= *width).unwrap_or((steps, steps));
        let top = top(losses);
        let tick = |number: f64, of: f64| Tick { at: number / of, text: shown(number, 0) };
        Curve {
            line: line(losses, width as f64, top),
            x: (0..=width)
                .step_by(apart.max(1))
                .map(|step| tick(step as f64, width as f64))
                .collect(),
            y: vec![tick(0.0, top), tick(top, top)],
        }
    }
}

/// The smallest of 3, 5, 10, 20, 50, 100, … that no loss exceeds.
fn top(losses: &[f64]) -> f64 {
    let highest = losses.iter().copied().filter(|loss| loss.is_finite()).fold(0.0, f64::max);
    if highest <= LOWEST_TOP {
        return LOWEST_TOP;
    }
    let tops = (0..).flat_map(|power| [5.0, 10.0, 20.0].map(|top| top * 10_f64.powi(power)));
    let mut finite = tops.take_while(|top| top.is_finite());
    finite.find(|&top| highest <= top).unwrap_or(f64::MAX)
}

/// The points of the losses that are numbers; of many, some, and the last.
fn line(losses: &[f64], width: f64, top: f64) -> String {
    let every = losses.len().div_ceil(POINTS).max(1);
    let last = losses.len().saturating_sub(1);
    let mut line = String::new();
    for (step, loss) in losses.iter().enumerate() {
        if loss.is_finite() && (step % every == 0 || step == last) {
            let (x, y) = (SIDE * step as f64 / width, SIDE * (1.0 - loss / top));
            // Writing to a String cannot fail.
            let _ = write!(line, "{}{x:.1},{y:.1}", if line.is_empty() { "" } else { " " });
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(ticks: &[Tick]) -> Vec<(f64, &str)> {
        ticks.iter().map(|tick| (tick.at, tick.text.as_str())).collect()
    }

    #[test]
    fn a_line_lies_on_its_axes() {
        let curve = Curve::of(&[3.0, 1.5, 0.0]);
        assert_eq!(curve.line, "0.0,0.0 6.7,500.0 13.3,1000.0");
        assert_eq!(
            ticks(&curve.x)[1..],
            [(50.0 / 150.0, "50"), (100.0 / 150.0, "100"), (1.0, "150")]
        );
        assert_eq!(ticks(&curve.y), [(0.0, "0"), (1.0, "3")]);
    }

    #[test]
    fn axes_grow_and_what_is_no_number_is_left_out() {
        let mut losses = vec![2.0; 152];
        losses[151] = 7.0;
        losses[150] = f64::INFINITY;
        let curve = Curve::of(&losses);
        assert_eq!(curve.x.last().unwrap().text, "400");
        assert_eq!(curve.y.last().unwrap().text, "10");
        assert!(curve.line.ends_with(" 372.5,800.0 377.5,300.0"), "{}", curve.line);
    }

    #[test]
    fn any_losses_have_a_curve() {
        assert_eq!(Curve::of(&[]).line, "");
        assert_eq!(Curve::of(&[f64::NAN]).line, "");
        assert_eq!(Curve::of(&[1e12]).y.last().unwrap().text, "1.00·10¹²");
        assert_eq!(Curve::of(&[f64::MAX]).line, "0.0,0.0");
        assert!(Curve::of(&vec![1.0; 1001]).line.split(' ').count() <= POINTS + 1);
    }
}
