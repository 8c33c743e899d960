//! Arrows from the origin of a plane to labelled points. A unit is as long
//! across as it is up, so that angles are what they are.

use ledger::{Axis, Point};

use super::axis::{Reach, Scale, linear, linear_ticks, step};
use super::canvas::{
    Anchor, Canvas, GRID, INK, LETTERS, LINE, WIDTH, color, dashes, polygon, polyline, text_width,
};
use super::frame::{Frame, SAMPLE, draw_top};

const LEAST_HEIGHT: f64 = 170.0;
const MOST_HEIGHT: f64 = 340.0;

pub(super) fn draw(x: &Axis, y: &Axis, groups: &[(String, Vec<Point>)]) -> Result<Canvas, String> {
    super::check_series(
        groups.iter().map(|(name, points)| (name.as_str(), points.len())),
        "points",
    )?;
    if let Some(axis) = [x, y].into_iter().find(|axis| axis.logarithmic) {
        return Err(format!("the axis `{}` of a plane cannot be logarithmic", axis.label));
    }
    let points = || groups.iter().flat_map(|(_, points)| points);
    let mut across = span(x, points().map(|point| point.x))?;
    let mut up = span(y, points().map(|point| point.y))?;

    let mut canvas = Canvas::default();
    let names = groups.iter().map(|(name, _)| name.as_str());
    let top = draw_top(&mut canvas, names, &y.label, |canvas, group, column, row| {
        draw_arrow(canvas, group, (column, row), (column + SAMPLE, row));
    });
    // The plot's width depends on the labels of the ticks, and they on what the
    // width leaves to be shown: so once with a guess, once with the labels.
    let guess = Frame::new(&up.ticks, &across.ticks, top, 0.0);
    let height = square(&mut across, &mut up, guess.right - guess.left);
    let frame = Frame::new(&up.ticks, &across.ticks, top, height);
    let unit = height / length(&up);
    stretch(&mut across, (frame.right - frame.left) / unit);
    draw_grid(&mut canvas, &frame, &across, &up);
    frame.draw_x_label(&mut canvas, &x.label);
    let place = |x: f64, y: f64| (frame.column(across.fraction(x)), frame.row(up.fraction(y)));
    let origin = place(0.0, 0.0);
    let mut labels = Labels { frame, taken: Vec::new() };
    labels.keep_off((frame.left, origin.1), (frame.right, origin.1));
    labels.keep_off((origin.0, frame.top), (origin.0, frame.bottom));
    for (group, (_, points)) in groups.iter().enumerate() {
        for point in points {
            let tip = place(point.x, point.y);
            draw_arrow(&mut canvas, group, origin, tip);
            labels.keep_off(origin, tip);
        }
    }
    for (place, label) in merged(groups, place) {
        labels.draw(&mut canvas, &label, origin, place);
    }
    Ok(canvas)
}

/// The values and zero, with room for labels beyond them.
fn span(axis: &Axis, values: impl Iterator<Item = f64>) -> Result<Scale, String> {
    let exact = Scale::new(axis, values.chain([0.0]), Reach::Exact, 5)?;
    let room = 0.12 * (exact.high - exact.low);
    Ok(linear(exact.low - room, exact.high + room, Reach::Exact, 5))
}

/// Widens one of two spans so that a unit is as long on both, and gives both the
/// same ticks. Returns the height for a width.
fn square(across: &mut Scale, up: &mut Scale, width: f64) -> f64 {
    let height = (length(up) * width / length(across)).clamp(LEAST_HEIGHT, MOST_HEIGHT);
    let unit = (width / length(across)).min(height / length(up));
    let step = step((width / unit).max(height / unit) / 6.0);
    for (scale, room) in [(across, width), (up, height)] {
        stretch(scale, room / unit);
        scale.ticks = linear_ticks(scale.low, scale.high, step);
    }
    height
}

fn length(scale: &Scale) -> f64 {
    scale.high - scale.low
}

/// Gives a scale another length about its middle.
fn stretch(scale: &mut Scale, new: f64) {
    let more = (new - length(scale)) / 2.0;
    (scale.low, scale.high) = (scale.low - more, scale.high + more);
    scale.ticks.retain(|tick| scale.low <= tick.value && tick.value <= scale.high);
}

fn draw_grid(canvas: &mut Canvas, frame: &Frame, across: &Scale, up: &Scale) {
    let Frame { left, top, right, bottom } = *frame;
    for tick in &across.ticks {
        let column = frame.column(across.fraction(tick.value));
        let (color, width) = if tick.value == 0.0 { (INK, 1.2) } else { (GRID, 1.0) };
        canvas.stroke(&polyline([(column, top), (column, bottom)]), color, width, "");
        canvas.text(&tick.label, column, bottom + LINE - 1.0, Anchor::Middle);
    }
    for tick in &up.ticks {
        let row = frame.row(up.fraction(tick.value));
        let (color, width) = if tick.value == 0.0 { (INK, 1.2) } else { (GRID, 1.0) };
        canvas.stroke(&polyline([(left, row), (right, row)]), color, width, "");
        canvas.text(&tick.label, left - 7.0, row + LETTERS / 3.0, Anchor::End);
    }
}

/// An arrow; a dot where it would have no length.
fn draw_arrow(canvas: &mut Canvas, group: usize, from: (f64, f64), to: (f64, f64)) {
    let color = color(group);
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    if length < 8.0 {
        canvas.fill(&super::canvas::mark(0, to.0, to.1), &color, 1.0);
        return;
    }
    let (dx, dy) = (dx / length, dy / length);
    let back =
        |along: f64, aside: f64| (to.0 - along * dx - aside * dy, to.1 - along * dy + aside * dx);
    canvas.stroke(&polyline([from, back(8.0, 0.0)]), &color, 2.2, dashes(group));
    canvas.fill(&polygon([to, back(11.0, 4.6), back(8.5, 0.0), back(11.0, -4.6)]), &color, 1.0);
}

/// The points with their labels; points in one place share one.
fn merged(
    groups: &[(String, Vec<Point>)],
    place: impl Fn(f64, f64) -> (f64, f64),
) -> Vec<((f64, f64), String)> {
    let mut merged: Vec<((f64, f64), String)> = Vec::new();
    for Point { label, x, y } in groups.iter().flat_map(|(_, points)| points) {
        let at = place(*x, *y);
        let near = |other: &(f64, f64)| (other.0 - at.0).hypot(other.1 - at.1) < 2.0;
        match merged.iter_mut().find(|(other, _)| near(other)) {
            Some((_, labels)) => *labels = format!("{labels}, {label}"),
            None => merged.push((at, label.clone())),
        }
    }
    merged
}

/// Finds room for labels.
struct Labels {
    frame: Frame,
    /// Rectangles where something stands: left, top, right, bottom.
    taken: Vec<[f64; 4]>,
}

impl Labels {
    /// Keeps labels off a line, which is taken to be a row of dots.
    fn keep_off(&mut self, from: (f64, f64), to: (f64, f64)) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let dots = (dx.hypot(dy) / 6.0).ceil().max(1.0) as u32;
        self.taken.extend((0..=dots).map(|dot| {
            let along = f64::from(dot) / f64::from(dots);
            let (x, y) = (from.0 + along * dx, from.1 + along * dy);
            [x, y, x, y]
        }));
    }

    /// Draws a label beyond its point, as seen from the origin; if something
    /// stands there, at the next free place around the point.
    fn draw(&mut self, canvas: &mut Canvas, label: &str, origin: (f64, f64), point: (f64, f64)) {
        let beyond = (point.1 - origin.1).atan2(point.0 - origin.0);
        let turns = [0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.0, -2.0, 3.0];
        let boxes = [1.0, 2.0]
            .into_iter()
            .flat_map(|far| turns.map(|turn| label_box(label, point, beyond + turn, far)));
        let boxes: Vec<[f64; 4]> = boxes.collect();
        let free = boxes.iter().find(|rectangle| self.is_free(rectangle));
        let rectangle = *free.unwrap_or(&boxes[0]);
        let [left, _, right, bottom] = rectangle;
        canvas.text(label, (left + right) / 2.0, bottom - 4.0, Anchor::Middle);
        self.taken.push(rectangle);
    }

    fn is_free(&self, [left, top, right, bottom]: &[f64; 4]) -> bool {
        let inside = *left >= self.frame.left
            && *right <= WIDTH
            && *top >= self.frame.top
            && *bottom <= self.frame.bottom;
        inside
            && self.taken.iter().all(|other| {
                *right <= other[0] || *left >= other[2] || *bottom <= other[1] || *top >= other[3]
            })
    }
}

/// The rectangle of a label that touches its point from a direction.
fn label_box(label: &str, point: (f64, f64), direction: f64, far: f64) -> [f64; 4] {
    let (half_width, half_height) = (text_width(label) / 2.0, LETTERS / 2.0 + 1.0);
    let (dx, dy) = (direction.cos(), direction.sin());
    let x = point.0 + dx * (half_width + 6.0 * far);
    let y = point.1 + dy * (half_height + 5.0 * far);
    [x - half_width, y - half_height, x + half_width, y + half_height]
}
