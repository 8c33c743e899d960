//! A figure as data: what is drawn, never how. Whoever renders it decides on
//! colours and lettering; a figure always says in words what it shows.

/// A plot with the words that stand in for it where it cannot be seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What the figure shows, in a sentence or two: its text alternative.
    pub description: String,
    /// What is drawn.
    pub plot: Plot,
}

/// What is drawn in a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Plot {
    /// Curves over a common x axis.
    Lines {
        /// The horizontal axis.
        x: Axis,
        /// The vertical axis.
        y: Axis,
        /// The curves, in the order of the legend.
        series: Vec<Series>,
    },
    /// One bar a category and series.
    Bars {
        /// The names under the bars.
        categories: Vec<String>,
        /// The vertical axis.
        y: Axis,
        /// The bars' heights: one value a category.
        series: Vec<(String, Vec<f64>)>,
    },
    /// Labelled points and arrows from the origin on a plane.
    Plane {
        /// The horizontal axis.
        x: Axis,
        /// The vertical axis.
        y: Axis,
        /// Groups of labelled points, in the order of the legend.
        groups: Vec<(String, Vec<Point>)>,
    },
}

/// An axis of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What is measured, with its unit.
    pub label: String,
    /// Whether equal steps along the axis are equal ratios.
    pub logarithmic: bool,
}

impl Axis {
    /// An axis on which equal steps are equal differences.
    #[must_use]
    pub fn linear(label: &str) -> Axis {
        Axis { label: label.to_owned(), logarithmic: false }
    }

    /// An axis on which equal steps are equal ratios.
    #[must_use]
    pub fn logarithmic(label: &str) -> Axis {
        Axis { label: label.to_owned(), logarithmic: true }
    }
}

/// A labelled point on a plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The name beside the point.
    pub label: String,
    /// The coordinate along the horizontal axis.
    pub x: f64,
    /// The coordinate along the vertical axis.
    pub y: f64,
}

/// A named curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The points the curve passes through, from left to right.
    pub points: Vec<(f64, f64)>,
}

impl Figure {
    /// The figure's data in words and rounded numbers: what the lock remembers
    /// of it, so that a change of the data shows as a change of text.
    pub(crate) fn shown(&self, digits: u8) -> String {
        let mut lines = vec![self.description.clone()];
        let pair = |a: f64, b: f64| {
            format!("({}, {})", crate::number(a, digits), crate::number(b, digits))
        };
        match &self.plot {
            Plot::Lines { x, y, series } => {
                lines.push(format!("lines: {} against {}", y.label, x.label));
                for Series { name, points } in series {
                    let points: Vec<_> = points.iter().map(|&(a, b)| pair(a, b)).collect();
                    lines.push(format!("{name}: {}", points.join(" ")));
                }
            }
            Plot::Bars { categories, y, series } => {
                lines.push(format!("bars: {} of {}", y.label, categories.join(", ")));
                for (name, heights) in series {
                    let heights: Vec<_> =
                        heights.iter().map(|&height| crate::number(height, digits)).collect();
                    lines.push(format!("{name}: {}", heights.join(" ")));
                }
            }
            Plot::Plane { x, y, groups } => {
                lines.push(format!("plane: {} against {}", y.label, x.label));
                for (name, points) in groups {
                    let points: Vec<_> = points
                        .iter()
                        .map(|Point { label, x, y }| format!("{label} {}", pair(*x, *y)))
                        .collect();
                    lines.push(format!("{name}: {}", points.join(" ")));
                }
            }
        }
        lines.join("\n")
    }
}
