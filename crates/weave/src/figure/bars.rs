//! Bars, side by side for each category, told apart by hatching.

use ledger::Axis;

use super::axis::{Reach, Scale};
use super::canvas::{Anchor, Canvas, INK, LINE, color, polygon, polyline, text_width};
use super::frame::{Frame, SAMPLE, draw_top};

const HEIGHT: f64 = 200.0;

pub(super) fn draw(
    categories: &[String],
    y: &Axis,
    series: &[(String, Vec<f64>)],
) -> Result<Canvas, String> {
    super::check_series(
        series.iter().map(|(name, heights)| (name.as_str(), heights.len())),
        "bars",
    )?;
    if let Some((name, heights)) = series.iter().find(|(_, h)| h.len() != categories.len()) {
        let (heights, categories) = (heights.len(), categories.len());
        return Err(format!("`{name}` has {heights} bars for {categories} categories"));
    }
    let heights = series.iter().flat_map(|(_, heights)| heights).copied();
    let up = Scale::new(y, heights, Reach::TicksAndZero, 5)?;

    let mut canvas = Canvas::default();
    let names = series.iter().map(|(name, _)| name.as_str());
    let top = draw_top(&mut canvas, names, &y.label, |canvas, index, column, row| {
        draw_bar(canvas, index, (column, row - 6.0), (column + SAMPLE, row + 6.0));
    });
    let frame = Frame::new(&up.ticks, &[], top, HEIGHT);
    frame.draw_rows(&mut canvas, &up);
    let base = if y.logarithmic { up.low } else { 0.0 };
    let base = frame.row(up.fraction(base));
    let slot = (frame.right - frame.left) / categories.len() as f64;
    let width = (0.72 * slot / series.len() as f64).min(46.0);
    for (index, (_, heights)) in series.iter().enumerate() {
        for (category, height) in heights.iter().enumerate() {
            let centre = frame.left + (category as f64 + 0.5) * slot;
            let left = centre + (index as f64 - series.len() as f64 / 2.0) * width;
            let end = frame.row(up.fraction(*height));
            let gap = if series.len() > 1 { 1.0 } else { 0.0 };
            draw_bar(
                &mut canvas,
                index,
                (left + gap, base.min(end)),
                (left + width - gap, base.max(end)),
            );
        }
    }
    canvas.stroke(&polyline([(frame.left, base), (frame.right, base)]), INK, 1.2, "");
    draw_categories(&mut canvas, categories, &frame, slot);
    Ok(canvas)
}

/// The names under the bars; aslant if they are too long for their places.
fn draw_categories(canvas: &mut Canvas, categories: &[String], frame: &Frame, slot: f64) {
    let longest = categories.iter().map(|name| text_width(name)).fold(0.0, f64::max);
    for (index, name) in categories.iter().enumerate() {
        let centre = frame.left + (index as f64 + 0.5) * slot;
        if longest <= slot {
            canvas.text(name, centre, frame.bottom + LINE, Anchor::Middle);
        } else {
            canvas.slanted_text(name, centre + 4.0, frame.bottom + LINE - 2.0);
        }
    }
    // The sine of the slant, 35 degrees, is 0.57.
    let depth = if longest <= slot { LINE } else { LINE + 0.57 * longest };
    canvas.reach_down_to(frame.bottom + depth + 8.0);
}

/// A bar between two corners, hatched in the manner of its series.
fn draw_bar(
    canvas: &mut Canvas,
    series: usize,
    (left, top): (f64, f64),
    (right, bottom): (f64, f64),
) {
    let color = color(series);
    let outline = polygon([(left, top), (right, top), (right, bottom), (left, bottom)]);
    if series == 0 {
        canvas.fill(&outline, &color, 1.0);
        return;
    }
    canvas.fill(&outline, &color, 0.25);
    canvas.stroke(&outline, &color, 1.5, "");
    let mut hatching = String::new();
    if [1, 4].contains(&series) {
        hatching += &diagonals((left, top), (right, bottom), true);
    }
    if [2, 4].contains(&series) {
        hatching += &diagonals((left, top), (right, bottom), false);
    }
    if series == 3 {
        hatching += &steps(top, bottom, HATCH)
            .map(|y| polyline([(left, y), (right, y)]))
            .collect::<String>();
    }
    // The sixth is told by having no hatching at all.
    if !hatching.is_empty() {
        canvas.stroke(&hatching, &color, 1.3, "");
    }
}

/// The distance between the lines of a hatching.
const HATCH: f64 = 5.0;

fn steps(from: f64, to: f64, by: f64) -> impl Iterator<Item = f64> {
    (1..).map(move |index| from + f64::from(index) * by).take_while(move |at| *at < to)
}

/// Parallel lines through a rectangle, falling or rising.
fn diagonals((left, top): (f64, f64), (right, bottom): (f64, f64), falling: bool) -> String {
    let (width, height) = (right - left, bottom - top);
    let place = |(x, y): (f64, f64)| (left + x, if falling { bottom - y } else { top + y });
    steps(0.0, width + height, HATCH * std::f64::consts::SQRT_2)
        .map(|along| {
            // From the one horizontal edge or the right one to the left one or
            // the other horizontal edge.
            let start = (along.min(width), (along - width).max(0.0));
            let end = ((along - height).max(0.0), along.min(height));
            polyline([place(start), place(end)])
        })
        .collect()
}
