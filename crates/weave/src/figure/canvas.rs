//! Writes SVG, and knows how series are told apart: by colour, and by dashes,
//! marks and hatching. Coordinates are rounded to a tenth of a unit.

use std::fmt::Write as _;

/// The width of every drawing, in its own units. At 320 pixels a column is about
/// 290 wide: the lettering is then ten pixels high.
pub(super) const WIDTH: f64 = 400.0;
/// The height of lettering.
pub(super) const LETTERS: f64 = 14.0;
/// The lines of lettering, from one to the next.
pub(super) const LINE: f64 = 18.0;

pub(super) const INK: &str = "var(--plot-ink)";
pub(super) const GRID: &str = "var(--plot-grid)";

/// Which way a text extends from its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing in the making.
#[derive(Clone, Debug, Default)]
pub(super) struct Canvas {
    body: String,
    height: f64,
}

/// A coordinate, rounded to a tenth.
pub(super) fn n(value: f64) -> String {
    let rounded = format!("{value:.1}");
    let short = rounded.strip_suffix(".0").unwrap_or(&rounded);
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// About how wide a text is: the font is the reader's, so nobody knows.
pub(super) fn text_width(text: &str) -> f64 {
    0.56 * LETTERS * text.chars().count() as f64
}

pub(super) fn color(series: usize) -> String {
    format!("var(--series-{})", series + 1)
}

/// The strokes and gaps of a series' lines; empty for a line without gaps.
pub(super) fn dashes(series: usize) -> &'static str {
    ["", "9 4", "2 3", "12 3 2 3", "5 3", "15 4 5 4"][series % 6]
}

/// A series' mark around a point: a circle, a square, triangles, a diamond, a
/// bar across.
pub(super) fn mark(series: usize, x: f64, y: f64) -> String {
    let outline: &[(f64, f64)] = match series % 6 {
        0 => {
            return format!("M{} {}a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z", n(x - 3.6), n(y));
        }
        1 => &[(-3.3, -3.3), (3.3, -3.3), (3.3, 3.3), (-3.3, 3.3)],
        2 => &[(0.0, -4.6), (4.4, 3.2), (-4.4, 3.2)],
        3 => &[(0.0, -4.9), (4.9, 0.0), (0.0, 4.9), (-4.9, 0.0)],
        4 => &[(0.0, 4.6), (4.4, -3.2), (-4.4, -3.2)],
        _ => &[(-1.6, -5.0), (1.6, -5.0), (1.6, 5.0), (-1.6, 5.0)],
    };
    polygon(outline.iter().map(|(dx, dy)| (x + dx, y + dy)))
}

/// A closed outline.
pub(super) fn polygon(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    polyline(points) + "z"
}

/// Straight lines from point to point.
pub(super) fn polyline(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (index, (x, y)) in points.into_iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        // Writing to a String cannot fail.
        let _ = write!(path, "{command}{} {}", n(x), n(y));
    }
    path
}

impl Canvas {
    /// Strokes a path; `dashes` may be empty.
    pub(super) fn stroke(&mut self, path: &str, color: &str, width: f64, dashes: &str) {
        let dashes = match dashes {
            "" => String::new(),
            dashes => format!(" stroke-dasharray=\"{dashes}\""),
        };
        let _ = write!(
            self.body,
            "<path d=\"{path}\" style=\"fill:none;stroke:{color}\" stroke-width=\"{}\" \
             stroke-linejoin=\"round\"{dashes}/>",
            n(width)
        );
    }

    /// Fills a path.
    pub(super) fn fill(&mut self, path: &str, color: &str, opacity: f64) {
        let opacity =
            if opacity < 1.0 { format!(" fill-opacity=\"{opacity}\"") } else { String::new() };
        let _ = write!(self.body, "<path d=\"{path}\" style=\"fill:{color}\"{opacity}/>");
    }

    /// A text whose base line begins, ends or is centred at a point.
    pub(super) fn text(&mut self, text: &str, x: f64, y: f64, anchor: Anchor) {
        self.lettering(text, &format!("x=\"{}\" y=\"{}\"", n(x), n(y)), anchor);
    }

    /// A text that rises towards its end, which lies at a point.
    pub(super) fn slanted_text(&mut self, text: &str, x: f64, y: f64) {
        let place = format!("transform=\"translate({} {}) rotate(-35)\"", n(x), n(y));
        self.lettering(text, &place, Anchor::End);
    }

    fn lettering(&mut self, text: &str, place: &str, anchor: Anchor) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let _ = write!(self.body, "<text {place}{anchor}>{}</text>", escape(text));
    }

    /// Makes the drawing reach down to `height`.
    pub(super) fn reach_down_to(&mut self, height: f64) {
        self.height = self.height.max(height);
    }

    /// The whole drawing.
    pub(super) fn finish(&self, class: &str, description: &str) -> String {
        format!(
            "<svg class=\"{class}\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {} {}\" \
             font-size=\"{}\" style=\"fill:{INK}\">{}</svg>",
            escape(description),
            n(WIDTH),
            n(self.height.ceil()),
            n(LETTERS),
            self.body
        )
    }
}

/// Escapes a text for HTML, and against who reads the page before it is HTML:
/// the formulas' dollar signs, the code's backticks, the directives' braces.
/// A line end becomes a space.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => escaped.push(' '),
            '&' | '<' | '>' | '"' | '\'' | '$' | '`' | '\\' | '{' | '}' => {
                let _ = write!(escaped, "&#{};", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    escaped
}
