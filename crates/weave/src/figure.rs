//! Draws a ledger's figure as SVG to stand inside a page: on one line, in the
//! page's own font and colours, as wide as its column, and still readable on a
//! small telephone. It decides how things look; what is drawn is the ledger's.
//!
//! Not drawn with a plotting library, plotters for one: its coordinates are
//! whole pixels, which roughens curves; it knows neither dashes nor classes nor
//! CSS variables; and to lay out lettering it wants to know the font, which here
//! is the reader's. What is left to share with it would be the choice of ticks.

mod axis;
mod bars;
mod canvas;
mod frame;
mod lines;
mod plane;

use ledger::{Figure, Plot};

/// How many series can be told apart, by colour and by dashes and marks.
const MOST_SERIES: usize = 6;

/// Draws a figure as SVG, on one line and without a width of its own.
///
/// Its colours are the CSS variables `--series-1` to `--series-6`, `--plot-ink`
/// and `--plot-grid`; series differ in dashes, marks or hatching too. The
/// description becomes its `aria-label`.
///
/// # Errors
///
/// What is wrong with the figure: no description, nothing to draw, a number that
/// is not finite, a value that is not positive on a logarithmic axis, too many
/// series, heights that do not match the categories.
pub fn svg(figure: &Figure) -> Result<String, String> {
    if figure.description.trim().is_empty() {
        return Err(
            "the figure has no description, which stands in for it where it cannot be seen"
                .to_owned(),
        );
    }
    let (kind, canvas) = match &figure.plot {
        Plot::Lines { x, y, series } => ("lines", lines::draw(x, y, series)?),
        Plot::Bars { categories, y, series } => ("bars", bars::draw(categories, y, series)?),
        Plot::Plane { x, y, groups } => ("plane", plane::draw(x, y, groups)?),
    };
    Ok(canvas.finish(kind, &figure.description))
}

/// Refuses what cannot be drawn whatever the kind of plot.
fn check_series<'a>(
    mut series: impl ExactSizeIterator<Item = (&'a str, usize)>,
    thing: &str,
) -> Result<(), String> {
    match series.len() {
        0 => return Err(format!("the figure has no {thing} to draw")),
        1..=MOST_SERIES => {}
        many => {
            return Err(format!(
                "the figure has {many} {thing}, and only {MOST_SERIES} can be told apart"
            ));
        }
    }
    match series.find(|(_, points)| *points == 0) {
        Some((name, _)) => Err(format!("`{name}` has no points to draw")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
