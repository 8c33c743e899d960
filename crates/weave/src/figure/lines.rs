//! Curves over a common axis.

use ledger::{Axis, Series};

use super::axis::{Reach, Scale};
use super::canvas::{Canvas, color, dashes, mark, polyline};
use super::frame::{Frame, SAMPLE, draw_top};

const HEIGHT: f64 = 210.0;
/// Up to so many points have each its mark; of more, so many are marked.
const MARKS: usize = 12;

pub(super) fn draw(x: &Axis, y: &Axis, series: &[Series]) -> Result<Canvas, String> {
    super::check_series(series.iter().map(|s| (s.name.as_str(), s.points.len())), "curves")?;
    let points = || series.iter().flat_map(|series| &series.points);
    let across = Scale::new(x, points().map(|point| point.0), Reach::Exact, 6)?;
    let up = Scale::new(y, points().map(|point| point.1), Reach::Ticks, 5)?;

    let mut canvas = Canvas::default();
    let names = series.iter().map(|series| series.name.as_str());
    let top = draw_top(&mut canvas, names, &y.label, |canvas, index, column, row| {
        let line = [(column, row), (column + SAMPLE, row)];
        canvas.stroke(&polyline(line), &color(index), 2.2, dashes(index));
        canvas.fill(&mark(index, column + SAMPLE / 2.0, row), &color(index), 1.0);
    });
    let frame = Frame::new(&up.ticks, &across.ticks, top, HEIGHT);
    frame.draw_rows(&mut canvas, &up);
    frame.draw_columns(&mut canvas, &across);
    frame.draw_x_label(&mut canvas, &x.label);
    for (index, Series { points, .. }) in series.iter().enumerate() {
        let places: Vec<_> = points
            .iter()
            .map(|&(x, y)| (frame.column(across.fraction(x)), frame.row(up.fraction(y))))
            .collect();
        draw_curve(&mut canvas, index, &places);
    }
    Ok(canvas)
}

fn draw_curve(canvas: &mut Canvas, series: usize, places: &[(f64, f64)]) {
    canvas.stroke(&polyline(places.iter().copied()), &color(series), 2.2, dashes(series));
    let every = if places.len() <= MARKS { 1 } else { places.len().div_ceil(MARKS / 2) };
    // The marks of different curves begin at different points, so that curves
    // that lie on each other can still be seen to be several.
    let first = if every == 1 { 0 } else { (series * every / 3) % every };
    let marks: String =
        places.iter().skip(first).step_by(every).map(|&(x, y)| mark(series, x, y)).collect();
    canvas.fill(&marks, &color(series), 1.0);
}
