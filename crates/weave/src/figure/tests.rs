use ledger::{Axis, Figure, Plot, Point, Series};
use scraper::{Html, Selector};

use super::*;

fn figure(plot: Plot) -> Figure {
    Figure { description: "What it shows.".to_owned(), plot }
}

fn series(name: &str, points: &[(f64, f64)]) -> Series {
    Series { name: name.to_owned(), points: points.to_vec() }
}

fn lines(x: Axis, y: Axis, curves: &[&[(f64, f64)]]) -> Result<String, String> {
    let series = curves.iter().enumerate().map(|(i, points)| series(&format!("s{i}"), points));
    svg(&figure(Plot::Lines { x, y, series: series.collect() }))
}

fn bars(heights: &[(&str, &[f64])], logarithmic: bool) -> Result<String, String> {
    let y = Axis { label: "height".to_owned(), logarithmic };
    let series = heights.iter().map(|(name, heights)| ((*name).to_owned(), heights.to_vec()));
    let categories = vec!["one".to_owned(), "two".to_owned()];
    svg(&figure(Plot::Bars { categories, y, series: series.collect() }))
}

fn plane(points: &[(&str, f64, f64)]) -> Result<String, String> {
    let point = |&(label, x, y): &(&str, f64, f64)| Point { label: label.to_owned(), x, y };
    let groups = vec![("g".to_owned(), points.iter().map(point).collect())];
    svg(&figure(Plot::Plane { x: Axis::linear("x"), y: Axis::linear("y"), groups }))
}

fn texts(svg: &str) -> Vec<String> {
    let html = Html::parse_fragment(svg);
    html.select(&Selector::parse("text").unwrap()).map(|text| text.text().collect()).collect()
}

/// The points of the path that is stroked in a series' colour.
fn path(svg: &str, series: usize) -> Vec<(f64, f64)> {
    let html = Html::parse_fragment(svg);
    let style = format!("fill:none;stroke:var(--series-{series})");
    let paths = Selector::parse("path").unwrap();
    let path = html.select(&paths).rfind(|path| path.attr("style") == Some(&style));
    path.unwrap()
        .attr("d")
        .unwrap()
        .trim_end_matches('z')
        .split(['M', 'L'])
        .skip(1)
        .map(|pair| pair.split_once(' ').unwrap())
        .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
        .collect()
}

/// Labels are three letters of 7.84 wide (0.0) on the left and two (10) on the
/// right; the plot is 210 high below one line of 18 and 10 of space.
#[test]
fn a_point_lies_where_it_was_computed_by_hand() {
    let svg =
        lines(Axis::linear("x"), Axis::linear("y"), &[&[(0.0, 0.0), (5.0, 0.5), (10.0, 1.0)]]);
    let svg = svg.unwrap();
    let places = path(&svg, 1);
    assert_eq!(places, [(33.5, 238.0), (208.8, 133.0), (384.2, 28.0)]);
    let labels =
        ["y", "0.0", "0.2", "0.4", "0.6", "0.8", "1.0", "0", "2", "4", "6", "8", "10", "x"];
    assert_eq!(texts(&svg), labels);
}

#[test]
fn equal_ratios_are_equal_distances_on_a_logarithmic_axis() {
    let (x, y) = (Axis::logarithmic("x"), Axis::logarithmic("y"));
    let svg = lines(x, y, &[&[(1.0, 1e-4), (10.0, 1.0), (100.0, 1e4)]]).unwrap();
    let places = path(&svg, 1);
    let [a, b, c] = places[..] else { panic!("{places:?}") };
    assert!((b.0 - a.0 - (c.0 - b.0)).abs() < 0.15, "{places:?}");
    assert!((b.1 - a.1 - (c.1 - b.1)).abs() < 0.15, "{places:?}");
    let labels = texts(&svg);
    assert_eq!(labels, ["y", "10⁻⁴", "0.01", "1", "100", "10\u{202f}000", "1", "10", "100", "x"]);
}

#[test]
fn ticks_are_few_and_round() {
    let labels = |low: f64, high: f64, most: usize| -> Vec<String> {
        axis::linear(low, high, axis::Reach::Exact, most)
            .ticks
            .into_iter()
            .map(|tick| tick.label)
            .collect()
    };
    assert_eq!(labels(0.0, 0.3, 3), ["0.0", "0.1", "0.2", "0.3"]);
    assert_eq!(labels(-1.3, 2.1, 5), ["−1", "0", "1", "2"]);
    assert_eq!(labels(0.0, 50_000.0, 5)[1..3], ["10\u{202f}000", "20\u{202f}000"]);
    assert_eq!(labels(3.0, 3.0, 3), ["2", "3", "4"]);
    let ticks = |low: f64, high: f64| {
        let points = [(low, 1.0), (high, 2.0)];
        let svg = lines(Axis::logarithmic("x"), Axis::linear(""), &[&points]).unwrap();
        let labels = texts(&svg);
        labels.iter().skip_while(|label| *label != "2.0").skip(1).cloned().collect::<Vec<_>>()
    };
    assert_eq!(ticks(128.0, 4096.0), ["200", "500", "1000", "2000", "x"]);
    assert_eq!(ticks(1e6, 1e9), ["10⁶", "10⁷", "10⁸", "10⁹", "x"]);
    assert_eq!(ticks(120.0, 180.0), ["120", "130", "140", "150", "160", "170", "180", "x"]);
}

#[test]
fn bars_stand_on_zero_and_are_as_high_as_their_values() {
    let svg = bars(&[("a", &[1.0, 1.0]), ("b", &[2.0, -1.0])], false).unwrap();
    let html = Html::parse_fragment(&svg);
    let select = Selector::parse("path[style='fill:var(--series-1)']").unwrap();
    let outlines: Vec<_> = html.select(&select).map(|path| path.attr("d").unwrap()).collect();
    // From −1 to 2 in 200 units below the legend (22), the name (18) and 10: 0 is
    // at 250 − 200/3 and 1 at 250 − 400/3.
    assert_eq!(outlines.len(), 3, "a sample and two bars");
    assert!(outlines[1].contains(" 116.7L") && outlines[1].contains(" 183.3z"), "{}", outlines[1]);
}

#[test]
fn a_plane_keeps_angles() {
    let svg = plane(&[("a", 2.0, 2.0), ("b", -1.0, 0.0)]).unwrap();
    let html = Html::parse_fragment(&svg);
    let select = Selector::parse("path[style='fill:none;stroke:var(--series-1)']").unwrap();
    let arrows: Vec<_> = html.select(&select).map(|path| path.attr("d").unwrap()).collect();
    assert_eq!(arrows.len(), 2);
    let (from, to) = arrows[0][1..].split_once('L').unwrap();
    let place = |text: &str| -> (f64, f64) {
        let (x, y) = text.split_once(' ').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    let (from, to) = (place(from), place(to));
    assert!(((to.0 - from.0) - (from.1 - to.1)).abs() < 0.25, "{from:?} {to:?}");
}

#[test]
fn points_in_one_place_share_a_label() {
    let labels = texts(&plane(&[("the", 1.0, 1.0), ("The", 1.0, 1.0), ("cat", 0.0, 0.0)]).unwrap());
    assert!(labels.contains(&"the, The".to_owned()), "{labels:?}");
    assert!(labels.contains(&"cat".to_owned()), "{labels:?}");
}

#[test]
fn series_differ_in_more_than_colour() {
    let curves: Vec<[(f64, f64); 2]> = (0..6).map(|i| [(0.0, f64::from(i)), (1.0, 1.0)]).collect();
    let curves: Vec<&[(f64, f64)]> = curves.iter().map(<[_; 2]>::as_slice).collect();
    let svg = lines(Axis::linear("x"), Axis::linear("y"), &curves).unwrap();
    let dashes: std::collections::HashSet<_> = (0..6).map(canvas::dashes).collect();
    assert_eq!(dashes.len(), 6);
    for dash in dashes.into_iter().filter(|dash| !dash.is_empty()) {
        assert!(svg.contains(&format!("stroke-dasharray=\"{dash}\"")), "{dash}");
    }
    let marks: std::collections::HashSet<_> = (0..6).map(|i| canvas::mark(i, 0.0, 0.0)).collect();
    assert_eq!(marks.len(), 6);
    assert!(texts(&svg).contains(&"s5".to_owned()));
}

#[test]
fn svg_is_one_line_in_the_colours_of_the_page() {
    let all = [
        lines(Axis::linear("x"), Axis::linear("y"), &[&[(0.0, 1.0), (1.0, 3.0)][..]; 3]).unwrap(),
        bars(&[("a", &[1.0, 2.0]), ("b", &[1.0, 2.0]), ("c", &[3.0, 4.0])], false).unwrap(),
        bars(&[("a", &[1.0, 2.0])], true).unwrap(),
        plane(&[("a", 1.0, 2.0)]).unwrap(),
    ];
    for svg in all {
        assert!(!svg.contains('\n'));
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>"));
        assert!(!svg.contains('#') && !svg.contains("rgb") && !svg.contains(" width=\""), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        let html = Html::parse_fragment(&svg);
        for element in html.select(&Selector::parse("[style]").unwrap()) {
            let colors =
                element.attr("style").unwrap().split(';').map(|s| s.split_once(':').unwrap().1);
            assert!(colors.into_iter().all(|color| color == "none" || color.starts_with("var(--")));
        }
    }
}

#[test]
fn lettering_is_escaped_for_html_and_for_who_reads_it_before() {
    let mut figure = figure(Plot::Lines {
        x: Axis::linear("a < b & $c$"),
        y: Axis::linear("`{{value x}}`\nand"),
        series: vec![series("s", &[(0.0, 1.0), (1.0, 2.0)])],
    });
    figure.description = "It \"shows\" <this> & $that$\nand".to_owned();
    let svg = svg(&figure).unwrap();
    for special in ["$", "`", "{", "\n", "a < b"] {
        assert!(!svg.contains(special), "{special} in {svg}");
    }
    let labels = texts(&svg);
    assert!(labels.contains(&"a < b & $c$".to_owned()), "{labels:?}");
    assert!(labels.contains(&"`{{value x}}` and".to_owned()), "{labels:?}");
    let html = Html::parse_fragment(&svg);
    let root = html.select(&Selector::parse("svg[role=img]").unwrap()).next().unwrap();
    assert_eq!(root.attr("aria-label"), Some("It \"shows\" <this> & $that$ and"));
    assert!(root.attr("viewBox").unwrap().starts_with("0 0 400 "));
}

#[test]
fn what_cannot_be_drawn_is_told() {
    let (x, y) = (|| Axis::linear("time"), || Axis::linear("cost"));
    let error = |drawn: Result<String, String>| drawn.unwrap_err();
    assert_eq!(error(lines(x(), y(), &[])), "the figure has no curves to draw");
    assert_eq!(error(lines(x(), y(), &[&[(0.0, 1.0)], &[]])), "`s1` has no points to draw");
    assert_eq!(
        error(lines(x(), y(), &[&[(0.0, f64::NAN)]])),
        "a value on the axis `cost` is not finite: NaN"
    );
    assert_eq!(
        error(lines(Axis::logarithmic("T"), y(), &[&[(0.0, 1.0)]])),
        "a value on the logarithmic axis `T` is not positive: 0"
    );
    assert_eq!(
        error(bars(&[("a", &[0.0, 1.0])], true)),
        "a value on the logarithmic axis `height` is not positive: 0"
    );
    assert_eq!(error(bars(&[("a", &[1.0])], false)), "`a` has 1 bars for 2 categories");
    assert!(error(bars(&[("a", &[1.0, 2.0][..]); 7], false)).contains("7 bars"));
    assert!(error(plane(&[("a", f64::INFINITY, 1.0)])).contains("not finite"));
    let groups = vec![("g".to_owned(), vec![Point { label: "p".to_owned(), x: 1.0, y: 1.0 }])];
    let logarithmic = Plot::Plane { x: x(), y: Axis::logarithmic("size"), groups };
    assert_eq!(
        error(svg(&figure(logarithmic.clone()))),
        "the axis `size` of a plane cannot be logarithmic"
    );
    let wordless = Figure { description: " ".to_owned(), plot: logarithmic };
    assert!(error(svg(&wordless)).contains("no description"));
}
