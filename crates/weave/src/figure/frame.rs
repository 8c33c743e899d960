//! What stands around a plot: the legend, the names of the axes, the ticks. The
//! vertical axis has its name on top of it, where it can be read without
//! turning the head.

use super::axis::{Scale, Tick};
use super::canvas::{Anchor, Canvas, GRID, INK, LETTERS, LINE, WIDTH, polyline, text_width};

/// The rectangle in which a plot is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Frame {
    /// The rectangle below what already stands on the canvas, beside the labels
    /// of the vertical axis. `top` is where the last line on top ends.
    pub(super) fn new(y: &[Tick], x: &[Tick], top: f64, height: f64) -> Frame {
        let widest = y.iter().map(|tick| text_width(&tick.label)).fold(0.0, f64::max);
        let last = x.last().map_or(0.0, |tick| text_width(&tick.label));
        let top = top + 10.0;
        Frame { left: widest + 10.0, top, right: WIDTH - 8.0 - last / 2.0, bottom: top + height }
    }

    /// The column of a place along the horizontal axis, from 0 to 1.
    pub(super) fn column(&self, fraction: f64) -> f64 {
        self.left + fraction * (self.right - self.left)
    }

    /// The row of a place along the vertical axis, from 0 to 1.
    pub(super) fn row(&self, fraction: f64) -> f64 {
        self.bottom - fraction * (self.bottom - self.top)
    }

    /// Lines across, at the ticks of the vertical axis, with their labels.
    pub(super) fn draw_rows(&self, canvas: &mut Canvas, y: &Scale) {
        for tick in &y.ticks {
            let row = self.row(y.fraction(tick.value));
            canvas.stroke(&polyline([(self.left, row), (self.right, row)]), GRID, 1.0, "");
            canvas.text(&tick.label, self.left - 7.0, row + LETTERS / 3.0, Anchor::End);
        }
    }

    /// A line along the bottom, with the ticks of the horizontal axis.
    pub(super) fn draw_columns(&self, canvas: &mut Canvas, x: &Scale) {
        let bottom = self.bottom;
        canvas.stroke(&polyline([(self.left, bottom), (self.right, bottom)]), INK, 1.2, "");
        for tick in &x.ticks {
            let column = self.column(x.fraction(tick.value));
            canvas.stroke(&polyline([(column, bottom), (column, bottom + 5.0)]), INK, 1.2, "");
            canvas.text(&tick.label, column, bottom + LINE + 2.0, Anchor::Middle);
        }
        canvas.reach_down_to(bottom + LINE + 8.0);
    }

    /// The name of the horizontal axis, under the labels of its ticks.
    pub(super) fn draw_x_label(&self, canvas: &mut Canvas, label: &str) {
        let row = self.bottom + 2.0 * LINE + 4.0;
        // A long name may need more than the plot's own width.
        let half = text_width(label) / 2.0;
        let centre = self.column(0.5).min(WIDTH - half).max(half);
        canvas.text(label, centre, row, Anchor::Middle);
        canvas.reach_down_to(row + 7.0);
    }
}

/// Draws the legend, if there are series to tell apart, and the name of the
/// vertical axis below it. Returns where they end.
pub(super) fn draw_top<'a>(
    canvas: &mut Canvas,
    names: impl ExactSizeIterator<Item = &'a str>,
    y_label: &str,
    sample: impl Fn(&mut Canvas, usize, f64, f64),
) -> f64 {
    let mut row = 0.0;
    if names.len() > 1 {
        let (mut column, mut lines) = (0.0, 1.0);
        for (series, name) in names.enumerate() {
            let width = SAMPLE + 7.0 + text_width(name);
            if column > 0.0 && column + width > WIDTH {
                (column, lines) = (0.0, lines + 1.0);
            }
            let base = lines * LINE - 3.0;
            sample(canvas, series, column, base - LETTERS / 3.0);
            canvas.text(name, column + SAMPLE + 7.0, base, Anchor::Start);
            column += width + 14.0;
        }
        row = lines * LINE + 4.0;
    }
    canvas.text(y_label, 0.0, row + LINE - 3.0, Anchor::Start);
    row + LINE
}

/// How wide a sample in the legend is.
pub(super) const SAMPLE: f64 = 30.0;
