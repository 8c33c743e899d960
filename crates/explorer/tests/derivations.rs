//! Every cell of every matrix: the derivation ends in the trace's number to the
//! bit, its numbers are those of the cells it names, and what is shown adds up
//! or is said not to. The trace comes from `attention`, asked directly.

mod common;

use attention::ndarray::Array2;
use attention::{Head, Mask, Options, Trace};
use common::again::{adds_up, index, visit};
use common::{COMPUTED, Random, cell, exact, head, list, matrix, preset, text};
use serde_json::Value;

#[test]
fn every_cell_of_every_preset() {
    for name in ["toy", "previous", "same", "uniform"] {
        let state = preset(name);
        for (mask, scale) in [(true, true), (true, false), (false, true), (false, false)] {
            let mut state = state.clone();
            state["mask"] = mask.into();
            state["scale"] = scale.into();
            check_head(&state);
        }
    }
}

#[test]
fn every_cell_of_random_heads() {
    let mut random = Random::new(3);
    for _ in 0..40 {
        check_head(&random.state());
    }
}

fn check_head(state: &Value) {
    let answer = head(state);
    assert_eq!(answer["problems"], Value::Array(vec![]), "{state}");
    let trace = trace(state);
    let total = |name| matrix(&answer, name);
    for (name, expected) in [
        ("Q", &trace.q),
        ("K", &trace.k),
        ("V", &trace.v),
        ("S", &trace.scores),
        ("scaled", &trace.scaled),
        ("masked", &trace.masked),
        ("A", &trace.weights),
        ("O", &trace.output),
    ] {
        for ((row, column), &number) in expected.indexed_iter() {
            let place = format!("{name}[{row}][{column}] of {state}");
            let shown = total(name);
            assert_eq!(bits(&shown["exact"][row][column]), number.to_bits(), "{place}");
            let derivation = cell(state, name, row, column);
            check_result(&derivation, number, &shown["shown"][row][column], &place);
            check_places(&derivation, &answer, &place);
            check_lines(&derivation, number, &place);
            check_rounding(&derivation, &place);
        }
    }
}

fn trace(state: &Value) -> Trace<f64> {
    let numbers = |name: &str| {
        let rows: Vec<Vec<f64>> = list(&state[name])
            .iter()
            .map(|row| list(row).iter().map(|number| typed(text(number))).collect())
            .collect();
        Array2::from_shape_fn((rows.len(), rows[0].len()), |(row, column)| rows[row][column])
    };
    let head = Head::new(numbers("w_q"), numbers("w_k"), numbers("w_v")).expect("sizes fit");
    let mask = if state["mask"] == true { Mask::Causal } else { Mask::Full };
    let options = Options { mask, scale: (state["scale"] == false).then_some(1.0) };
    head.trace(&numbers("x"), options).expect("sizes fit")
}

/// The library's own reading of what was typed.
fn typed(number: &str) -> f64 {
    number.trim().replace('−', "-").parse().expect("a number")
}

fn bits(value: &Value) -> u64 {
    exact(value).to_bits()
}

fn check_result(derivation: &Value, number: f64, shown: &Value, place: &str) {
    assert_eq!(bits(&derivation["result"]["exact"]), number.to_bits(), "{place}");
    assert_eq!(&derivation["result"]["shown"], shown, "{place}");
    let (title, spoken) = (text(&derivation["title"]), text(&derivation["spoken"]));
    assert!(spoken.starts_with(&format!("{title}. ")) && spoken.ends_with('.'), "{spoken}");
    assert!(spoken.contains(text(shown)), "{place}: {spoken}");
}

/// Where a number says that it is a cell, it is that cell; and the cells named
/// are those that the formula names, each once.
fn check_places(derivation: &Value, answer: &Value, place: &str) {
    let sources = list(&derivation["sources"]);
    let mut used = Vec::new();
    visit(&derivation["lines"], &mut |number| {
        if let Some(from) = number.get("from") {
            let (name, row, column) = (text(&from[0]), index(&from[1]), index(&from[2]));
            let there = &matrix(answer, name)["exact"][row][column];
            assert_eq!(bits(&number["exact"]), bits(there), "{place}: {number}");
            if !used.contains(from) {
                used.push(from.clone());
            }
        }
    });
    let (row, column) = (index(&derivation["row"]), index(&derivation["column"]));
    let name = text(&derivation["matrix"]);
    let across = |matrix: &str, fixed: usize| {
        let width = list(&common::matrix(answer, matrix)["exact"][0]).len();
        (0..width).map(|term| serde_json::json!([matrix, fixed, term])).collect::<Vec<_>>()
    };
    let down = |matrix: &str, fixed: usize| {
        let height = list(&common::matrix(answer, matrix)["exact"]).len();
        (0..height).map(|term| serde_json::json!([matrix, term, fixed])).collect::<Vec<_>>()
    };
    let closed = name == "masked" && column >= index(&matrix(answer, "S")["open"][row]);
    let expected = match name {
        "Q" => [across("X", row), down("W_Q", column)].concat(),
        "K" => [across("X", row), down("W_K", column)].concat(),
        "V" => [across("X", row), down("W_V", column)].concat(),
        "S" => [across("Q", row), across("K", column)].concat(),
        "scaled" => vec![serde_json::json!(["S", row, column])],
        "masked" if closed => vec![],
        "masked" => vec![serde_json::json!(["scaled", row, column])],
        "A" => across("masked", row),
        "O" => [across("A", row), down("V", column)].concat(),
        other => panic!("{other} is not computed"),
    };
    assert_eq!(sorted(sources), sorted(&expected), "{place}");
    if !closed {
        assert_eq!(sorted(&used), sorted(&expected), "{place}: the lines use other cells");
    }
}

fn sorted(places: &[Value]) -> Vec<String> {
    let mut places: Vec<String> = places.iter().map(Value::to_string).collect();
    places.sort();
    places
}

/// The exact numbers of each line lead to the result, to the bit.
fn check_lines(derivation: &Value, result: f64, place: &str) {
    for line in list(&derivation["lines"]) {
        let number = |name: &str| exact(&line[name]["exact"]);
        let exacts = |name: &str| list(&line[name]).iter().map(|n| exact(&n["exact"]));
        match text(&line["kind"]) {
            "products" => {
                let products = list(&line["terms"]).iter().map(|term| {
                    let [left, right, product] =
                        ["left", "right", "product"].map(|name| exact(&term[name]["exact"]));
                    assert_eq!((left * right).to_bits(), product.to_bits(), "{place}");
                    product
                });
                let sum = products.fold(0.0, |sum, product| sum + product);
                assert_eq!(sum.to_bits(), result.to_bits(), "{place}: {line}");
                assert_eq!(number("sum").to_bits(), result.to_bits(), "{place}");
            }
            "scaled" => {
                let size = line["size"].as_f64().expect("a size");
                assert!((number("root") * number("root") - size).abs() < 1e-12, "{place}");
                assert_eq!(number("factor"), 1.0 / size.sqrt(), "{place}");
                assert_eq!((number("score") * number("factor")).to_bits(), result.to_bits());
            }
            "same" => assert_eq!(number("score").to_bits(), result.to_bits(), "{place}"),
            "mask" if line["open"] == true => {
                assert_eq!(number("score").to_bits(), result.to_bits(), "{place}");
            }
            "mask" => assert_eq!(number("result"), f64::NEG_INFINITY, "{place}"),
            "largest" => {
                assert_eq!(number("result"), exacts("numbers").fold(f64::MIN, f64::max), "{place}");
                assert_eq!(list(&line["labels"]).len(), list(&line["numbers"]).len());
            }
            "exponentials" => check_exponentials(line, index(&derivation["column"]), place),
            "sum" => {
                let sum: f64 = exacts("terms").sum();
                assert!((sum - number("sum")).abs() <= 1e-14 * sum, "{place}: {line}");
                assert_eq!(list(&line["labels"]).len(), list(&line["terms"]).len());
            }
            "quotient" => {
                let (top, bottom) = (number("top"), number("bottom"));
                let quotient = if top == 0.0 { top } else { top / bottom };
                assert_eq!(quotient.to_bits(), result.to_bits(), "{place}");
            }
            "sentence" => assert!(text(&line["sentence"]).ends_with('.'), "{place}"),
            other => panic!("{place}: there is no line of kind {other}"),
        }
    }
}

fn check_exponentials(line: &Value, column: usize, place: &str) {
    let largest = exact(&line["largest"]["exact"]);
    for (key, term) in list(&line["terms"]).iter().enumerate() {
        let [score, difference, exponential] =
            ["score", "difference", "exponential"].map(|name| exact(&term[name]["exact"]));
        assert_eq!(term["current"], key == column, "{place}");
        if term["closed"] == true {
            assert_eq!((score, exponential), (f64::NEG_INFINITY, 0.0), "{place}");
        } else {
            assert_eq!(score - largest, difference, "{place}");
            let apart = (difference.exp() - exponential).abs();
            assert!(apart <= 1e-15 * exponential || apart < 1e-300, "{place}: {term}");
        }
    }
}

/// Computes again with nothing but what is shown.
fn check_rounding(derivation: &Value, place: &str) {
    let said = list(&derivation["lines"]).iter().any(|line| line.get("rounding").is_some());
    let adds_up = list(&derivation["lines"]).iter().all(adds_up);
    assert_eq!(said, !adds_up, "{place}: {derivation:#}");
}

/// Worked by hand: 1.8·1, 0.2·0 and 0·0; and 0.4, the score of “sat”, is 0.2·2.
#[test]
fn a_score_of_the_toy_head_is_the_one_worked_by_hand() {
    let derivation = cell(&preset("toy"), "S", 4, 1);
    assert_eq!(derivation["title"], "Score of “the” with “cat”");
    let terms = list(&derivation["lines"][0]["terms"]);
    let told: Vec<_> = terms
        .iter()
        .map(|term| {
            let number = |name: &str| text(&term[name]["shown"]).to_owned();
            (text(&term["label"]), number("left"), number("right"), number("product"))
        })
        .collect();
    let expected = [
        ("a thing", "1.8", "1.0", "1.80"),
        ("an action", "0.2", "0.0", "0.00"),
        ("the start", "0.0", "0.0", "0.00"),
    ]
    .map(|(label, left, right, product)| (label, left.into(), right.into(), product.into()));
    assert_eq!(told, expected);
    assert_eq!(derivation["result"]["shown"], "1.80");
    assert_eq!(
        derivation["spoken"],
        "Score of “the” with “cat”. 1.8 times 1.0 is 1.80, plus 0.2 times 0.0 is 0.00, plus 0.0 \
         times 0.0 is 0.00. The sum is 1.80."
    );
    assert_eq!(cell(&preset("toy"), "S", 4, 2)["result"]["shown"], "0.40");
}

/// From a table, with the largest score 1.0392: e^−1.8706 = 0.1540 (twice),
/// e⁰ = 1, e^−0.8083 = 0.4456, e^−1.8013 = 0.1651; their sum is 1.9187.
#[test]
fn a_weight_of_the_toy_head_is_the_one_worked_by_hand() {
    let derivation = cell(&preset("toy"), "A", 4, 1);
    let line = |kind: &str| {
        let lines = list(&derivation["lines"]);
        lines.iter().find(|line| line["kind"] == kind).expect("the line").clone()
    };
    let exponentials: Vec<_> = list(&line("exponentials")["terms"])
        .iter()
        .map(|term| text(&term["exponential"]["shown"]).to_owned())
        .collect();
    assert_eq!(exponentials, ["0.154", "1.000", "0.446", "0.165", "0.154"]);
    assert_eq!(line("largest")["result"]["shown"], "1.039");
    assert_eq!(line("sum")["sum"]["shown"], "1.919");
    assert_eq!(line("quotient")["result"]["shown"], "0.52");
}

#[test]
fn a_closed_cell_says_why() {
    let masked = cell(&preset("toy"), "masked", 1, 2);
    assert_eq!(masked["lines"][0]["open"], false);
    assert_eq!(
        masked["lines"][0]["sentence"],
        "“sat” comes later than “cat”, and a token may look only at itself and at what comes \
         before it, so the score becomes −∞."
    );
    let weight = cell(&preset("toy"), "A", 1, 2);
    assert_eq!(weight["result"]["shown"], "0.00");
    assert!(text(&weight["spoken"]).contains("The mask has closed “sat”"), "{weight}");
}

#[test]
fn switches_that_are_off_are_said() {
    let mut state = preset("toy");
    state["mask"] = false.into();
    state["scale"] = false.into();
    let masked = cell(&state, "masked", 1, 2);
    assert!(text(&masked["spoken"]).contains("The mask is switched off"), "{masked}");
    let scaled = cell(&state, "scaled", 1, 2);
    assert!(text(&scaled["spoken"]).contains("Dividing by √d is switched off"), "{scaled}");
    let answer = head(&state);
    assert_eq!(matrix(&answer, "masked")["exact"], matrix(&answer, "scaled")["exact"]);
    assert_eq!(matrix(&answer, "scaled")["exact"], matrix(&answer, "S")["exact"]);
}

#[test]
fn numbers_that_do_not_add_up_as_shown_are_explained() {
    let spoken = cell(&preset("toy"), "A", 4, 1)["spoken"].clone();
    let expected = "Numbers are rounded to be shown, but computed with all of their digits: as \
                    shown, −0.831 minus 1.039 is −1.870, not −1.871.";
    assert!(text(&spoken).ends_with(expected), "{spoken}");
}

#[test]
fn large_numbers_are_shown_with_a_power_of_ten() {
    let mut state = preset("toy");
    state["x"][1][0] = "1000".into();
    state["w_q"][0][1] = "-1000".into();
    let answer = head(&state);
    let shown = &matrix(&answer, "Q")["shown"];
    assert_eq!(shown[1][1], "−1.00·10⁶");
    assert_eq!(shown[0][1], "−100.0");
    let derivation = cell(&state, "Q", 1, 1);
    let spoken = text(&derivation["spoken"]);
    assert!(
        spoken.contains("Numbers from 100\u{202f}000 on are shown with three digits"),
        "{spoken}"
    );
}

#[test]
fn no_cell_but_a_computed_one_has_a_derivation() {
    let state = preset("toy");
    assert_eq!(cell(&state, "X", 0, 0)["error"], "X is not computed.");
    assert_eq!(cell(&state, "Q", 0, 3)["error"], "Q has no cell (0, 3).");
    assert_eq!(cell(&state, "M", 0, 0)["error"], "There is no matrix `M`.");
    for name in COMPUTED {
        assert!(cell(&state, name, 0, 0).get("error").is_none(), "{name}");
    }
}
