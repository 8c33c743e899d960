//! The backward pass of a head with a target: every gradient is that of
//! `attention`, to the bit, and the slope that edits of the head show; every
//! cell's terms, computed again from what is shown, lead to it.

mod common;

use attention::gradient::HeadGradient;
use attention::ndarray::Array2;
use attention::{Head, Mask, Options};
use common::again::{adds_up, index, shown, visit};
use common::{BACKWARD, COMPUTED, Random, backward_preset, cell, exact, head, list, matrix, text};
use serde_json::{Value, json};

const PRESETS: [&str; 3] = ["toy", "wrong", "fresh"];

#[test]
fn every_cell_of_every_preset() {
    for name in PRESETS {
        for (mask, scale) in [(true, true), (true, false), (false, true), (false, false)] {
            let mut state = backward_preset(name);
            state["mask"] = mask.into();
            state["scale"] = scale.into();
            check_head(&state);
        }
    }
}

#[test]
fn every_cell_of_random_heads() {
    let mut random = Random::new(13);
    for _ in 0..16 {
        check_head(&random.state_with_target());
    }
}

fn check_head(state: &Value) {
    let answer = head(state);
    assert_eq!(answer["problems"], json!([]), "{state}");
    let (loss, gradient) = followed_back(state);
    for name in BACKWARD {
        let numbers = of(&gradient, &loss, name);
        let there = matrix(&answer, name);
        assert_eq!(there["shape"], format!("({}, {})", numbers.nrows(), numbers.ncols()));
        for ((row, column), &number) in numbers.indexed_iter() {
            let place = format!("{name}[{row}][{column}] of {state}");
            assert_eq!(bits(&there["exact"][row][column]), number.to_bits(), "{place}");
            let derivation = cell(state, name, row, column);
            check_result(&derivation, number, &there["shown"][row][column], &place);
            check_sources(&derivation, &answer, &place);
            check_lines(&derivation, number, &place);
            let said = list(&derivation["lines"]).iter().any(|line| line.get("rounding").is_some());
            let fit = list(&derivation["lines"]).iter().all(adds_up);
            assert_eq!(said, !fit, "{place}: {derivation:#}");
        }
    }
}

/// The loss and its gradient, asked of `attention` directly.
fn followed_back(state: &Value) -> (f64, HeadGradient<f64>) {
    let numbers = |rows: &[Value]| {
        let rows: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| list(row).iter().map(|number| typed(text(number))).collect())
            .collect();
        Array2::from_shape_fn((rows.len(), rows[0].len()), |(row, column)| rows[row][column])
    };
    let of = |name: &str| numbers(list(&state[name]));
    let (x, target) = (of("x"), numbers(&[state["target"].clone()]));
    let head = Head::new(of("w_q"), of("w_k"), of("w_v")).expect("sizes fit");
    let mask = if state["mask"] == true { Mask::Causal } else { Mask::Full };
    let options = Options { mask, scale: (state["scale"] == false).then_some(1.0) };
    let trace = head.trace(&x, options).expect("sizes fit");
    let last = x.nrows() - 1;
    let mut d_output = Array2::zeros(trace.output.dim());
    d_output.row_mut(last).assign(&(&trace.output.row(last) - &target.row(0)));
    let loss = 0.5 * d_output.row(last).iter().fold(0.0, |sum, miss| sum + miss * miss);
    (loss, head.gradient(&x, &trace, &d_output, options).expect("sizes fit"))
}

/// The library's own reading of what was typed.
fn typed(number: &str) -> f64 {
    number.trim().replace('−', "-").parse().expect("a number")
}

fn of(gradient: &HeadGradient<f64>, loss: &f64, name: &str) -> Array2<f64> {
    let through = &gradient.through;
    match name {
        "L" => Array2::from_elem((1, 1), *loss),
        "dO" => through.output.clone(),
        "dA" => through.weights.clone(),
        "dV" => through.v.clone(),
        "dmasked" => through.masked.clone(),
        "dscaled" => through.scaled.clone(),
        "dS" => through.scores.clone(),
        "dQ" => through.q.clone(),
        "dK" => through.k.clone(),
        "dW_Q" => gradient.w_q.clone(),
        "dW_K" => gradient.w_k.clone(),
        "dW_V" => gradient.w_v.clone(),
        "dX" => gradient.x.clone(),
        other => panic!("{other} is no gradient"),
    }
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
    let last = list(&derivation["lines"]).iter().rfind(|line| line["kind"] != "sentence");
    let last = last.expect("a line with a result");
    let result = last.get("result").or(last.get("sum")).expect("it ends in a result");
    assert_eq!(bits(&result["exact"]), number.to_bits(), "{place}: the last line");
}

/// Where a number says that it is a cell, it is that cell; and the cells named
/// are those of the formula, each once.
fn check_sources(derivation: &Value, answer: &Value, place: &str) {
    let mut used = Vec::new();
    visit(&derivation["lines"], &mut |number| {
        if let Some(from) = number.get("from") {
            let there = &matrix(answer, text(&from[0]))["exact"];
            let there = &there[index(&from[1])][index(&from[2])];
            assert_eq!(bits(&number["exact"]), bits(there), "{place}: {number}");
            used.push(from.to_string());
        }
    });
    used.sort();
    used.dedup();
    let sources: Vec<String> = list(&derivation["sources"]).iter().map(Value::to_string).collect();
    let mut expected = formula(derivation, answer);
    expected.sort();
    assert_eq!(sorted(sources), expected, "{place}");
    // What a mask has closed is shown, but no source.
    if text(&derivation["matrix"]) != "dscaled" {
        assert_eq!(used, expected, "{place}: the lines use other cells");
    }
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

/// The sources of a cell by the chapter's formulas.
fn formula(derivation: &Value, answer: &Value) -> Vec<String> {
    let (row, column) = (index(&derivation["row"]), index(&derivation["column"]));
    let size = |matrix: &str| {
        let rows = list(&common::matrix(answer, matrix)["exact"]);
        (rows.len(), list(&rows[0]).len())
    };
    let across = |matrix: &str, row: usize| -> Vec<String> {
        (0..size(matrix).1).map(|term| json!([matrix, row, term]).to_string()).collect()
    };
    let down = |matrix: &str, column: usize| -> Vec<String> {
        (0..size(matrix).0).map(|term| json!([matrix, term, column]).to_string()).collect()
    };
    let one = |matrix: &str| vec![json!([matrix, row, column]).to_string()];
    let last = size("O").0 - 1;
    let closed = column >= index(&matrix(answer, "S")["open"][row.min(last)]);
    match text(&derivation["matrix"]) {
        "L" => [across("O", last), across("target", 0)].concat(),
        "dO" if row < last => vec![],
        "dO" => [one("O"), vec![json!(["target", 0, column]).to_string()]].concat(),
        "dA" => [across("dO", row), across("V", column)].concat(),
        "dV" => [down("A", row), down("dO", column)].concat(),
        "dmasked" => [across("A", row), across("dA", row)].concat(),
        "dscaled" if closed => vec![],
        "dscaled" => one("dmasked"),
        "dS" => one("dscaled"),
        "dQ" => [across("dS", row), down("K", column)].concat(),
        "dK" => [down("dS", row), down("Q", column)].concat(),
        "dW_Q" => [down("X", row), down("dQ", column)].concat(),
        "dW_K" => [down("X", row), down("dK", column)].concat(),
        "dW_V" => [down("X", row), down("dV", column)].concat(),
        "dX" => ["Q", "K", "V"]
            .iter()
            .flat_map(|made| {
                let (d_made, weights) = (format!("d{made}"), format!("W_{made}"));
                [across(&d_made, row), across(&weights, column)].concat()
            })
            .collect(),
        other => panic!("{other} is no gradient"),
    }
}

/// The exact numbers of each line lead to the result, to the bit.
fn check_lines(derivation: &Value, result: f64, place: &str) {
    let mut partial = Vec::new();
    for line in list(&derivation["lines"]) {
        let number = |name: &str| exact(&line[name]["exact"]);
        match text(&line["kind"]) {
            "products" => {
                let products = list(&line["terms"]).iter().map(|term| {
                    let [left, right, product] =
                        ["left", "right", "product"].map(|name| exact(&term[name]["exact"]));
                    assert_eq!((left * right).to_bits(), product.to_bits(), "{place}");
                    product
                });
                let sum = products.fold(0.0, |sum, product| sum + product);
                assert_eq!(sum.to_bits(), number("sum").to_bits(), "{place}: {line}");
                partial.push(sum);
            }
            "sum" => {
                let terms: Vec<f64> =
                    list(&line["terms"]).iter().map(|term| exact(&term["exact"])).collect();
                assert_eq!(terms, partial, "{place}: the sums of the three ways");
                let sum = terms.iter().fold(0.0, |sum, term| sum + term);
                assert_eq!(sum + 0.0, result + 0.0, "{place}: {line}");
                assert_eq!(list(&line["labels"]).len(), terms.len());
            }
            "squares" => {
                for term in list(&line["terms"]) {
                    let [left, right, difference, square] =
                        ["left", "right", "difference", "square"]
                            .map(|name| exact(&term[name]["exact"]));
                    assert_eq!((left - right, difference * difference), (difference, square));
                    partial.push(square);
                }
                let sum: f64 = partial.iter().sum();
                assert!((sum - number("sum")).abs() <= 1e-14 * sum, "{place}: {line}");
            }
            "minus" => assert_eq!(number("left") - number("right"), number("result"), "{place}"),
            "times" => {
                let product = number("left") * number("right");
                assert_eq!(product + 0.0, number("result") + 0.0, "{place}: {line}");
            }
            "scaled" => {
                let size = line["size"].as_f64().expect("a size");
                assert_eq!(number("factor"), 1.0 / size.sqrt(), "{place}");
                assert_eq!((number("score") * number("factor")).to_bits(), result.to_bits());
            }
            "same" => assert_eq!(number("score").to_bits(), result.to_bits(), "{place}"),
            "mask" if line["open"] == true => {
                assert_eq!(number("score").to_bits(), result.to_bits(), "{place}");
            }
            "mask" | "zero" => assert_eq!(number("result"), 0.0, "{place}"),
            "sentence" => assert!(text(&line["sentence"]).ends_with('.'), "{place}"),
            other => panic!("{place}: there is no line of kind {other}"),
        }
    }
}

/// The slope that a reader finds who edits a number up and down and looks at the
/// loss, for every number of the head.
#[test]
fn gradients_are_the_slopes_that_edits_show() {
    let mut random = Random::new(17);
    let heads = PRESETS.map(backward_preset).into_iter();
    for state in heads.chain((0..6).map(|_| random.state_with_target())) {
        // Larger numbers saturate, where a nudge of a thousandth is a jump.
        let tame = |name: &str| {
            list(&state[name]).iter().flat_map(list).all(|n| typed(text(n)).abs() <= 8.0)
        };
        if !["x", "w_q", "w_k", "w_v"].iter().all(|name| tame(name)) {
            continue;
        }
        let answer = head(&state);
        for (field, gradient) in [("x", "dX"), ("w_q", "dW_Q"), ("w_k", "dW_K"), ("w_v", "dW_V")] {
            for (row, numbers) in list(&matrix(&answer, gradient)["exact"]).iter().enumerate() {
                for (column, slope) in list(numbers).iter().enumerate() {
                    let nudged = |by: f64| {
                        let mut state = state.clone();
                        let number = typed(text(&state[field][row][column])) + by;
                        state[field][row][column] = format!("{number:.3}").into();
                        exact(&matrix(&head(&state), "L")["exact"][0][0])
                    };
                    let (wide, near) =
                        (nudged(0.002) - nudged(-0.002), nudged(0.001) - nudged(-0.001));
                    // Without the error that shrinks with the nudge's square.
                    let found = (8.0 * near - wide) / 0.012;
                    let slope = exact(slope);
                    let apart = (found - slope).abs();
                    assert!(
                        apart <= 1e-5 * slope.abs().max(1.0),
                        "{gradient}: {found}, not {slope}, of {state}"
                    );
                }
            }
        }
    }
}

/// The loss is (1.0745 − 2)², 0.2581² and 0.2133², halved: see the chapter.
#[test]
fn the_loss_of_the_chapter_is_told_as_there() {
    let derivation = cell(&backward_preset("toy"), "L", 0, 0);
    assert_eq!(
        derivation["spoken"],
        "The loss. 1.0745 minus 2 is −0.9255, squared 0.8566; 0.2581 minus 0 is 0.2581, squared \
         0.0666; 0.2133 minus 0 is 0.2133, squared 0.0455; the squares add up to 0.9687, and half \
         of that is 0.4844."
    );
}

#[test]
fn each_kind_of_gradient_says_what_it_is() {
    let state = backward_preset("toy");
    for (name, row, column, title) in [
        ("dO", 4, 0, "Gradient of the output of “the”: “thing”"),
        ("dA", 4, 1, "Gradient of the weight that “the” gives to “cat”"),
        ("dmasked", 4, 1, "Gradient of the masked score of “the” with “cat”"),
        ("dQ", 4, 0, "Gradient of the query of “the”: a thing"),
        ("dW_V", 0, 0, "Gradient of W_V of “thing”: “thing”"),
        ("dX", 1, 0, "Gradient of X of “cat”: thing"),
    ] {
        assert_eq!(cell(&state, name, row, column)["title"], title);
    }
    let spoken = |name, row, column| text(&cell(&state, name, row, column)["spoken"]).to_owned();
    assert!(spoken("dO", 1, 0).contains("looks only at the output of the last token, “the”"));
    assert!(spoken("dscaled", 1, 2).contains("“sat” is closed to “cat”"));
    assert!(spoken("dscaled", 4, 2).contains("“sat” is open to “the”"));
    assert!(spoken("dmasked", 4, 1).contains("The average of the row’s gradients"));
    assert!(spoken("dmasked", 1, 2).contains("The mask has closed “sat”"));
    assert!(spoken("dX", 1, 0).contains("Back through the value: "));
}

#[test]
fn without_a_target_nothing_goes_backwards() {
    let state = backward_preset("toy");
    let mut forward = state.clone();
    forward.as_object_mut().unwrap().remove("target");
    assert_eq!(forward, common::preset("toy"));
    let (all, few) = (head(&state), head(&forward));
    let (all, few) = (list(&all["matrices"]), list(&few["matrices"]));
    assert_eq!((all.len(), few.len()), (26, 12));
    assert_eq!(&all[..12], &few[..], "the forward pass is the same");
    for name in COMPUTED {
        assert_eq!(cell(&state, name, 0, 0), cell(&forward, name, 0, 0));
    }
    let error = "The head has no target, so there is nothing to follow backwards.";
    for name in BACKWARD {
        assert_eq!(cell(&forward, name, 0, 0)["error"], error, "{name}");
    }
    assert_eq!(cell(&state, "target", 0, 0)["error"], "target is not computed.");
    assert_eq!(cell(&state, "dQ", 0, 3)["error"], "dQ has no cell (0, 3).");
}

#[test]
fn bad_numbers_of_the_target_are_found_where_they_stand() {
    let mut state = backward_preset("toy");
    for (typed, sentence) in [
        ("", "There is no number here; type one, such as 0.5."),
        ("NaN", "“NaN” stands for no number at all; type one, such as 0.5."),
        ("1e308", "1e308 is too large here; type a number from −1000 to 1000."),
        ("0,5", "Write a point, not a comma: 0.5."),
    ] {
        state["target"][1] = typed.into();
        let answer = head(&state);
        let expected = json!({"matrix": "target", "row": 0, "column": 1, "sentence": sentence});
        assert_eq!(answer["problems"], json!([expected]));
        assert_eq!(answer["matrices"], json!([]));
    }
    for (wrong, error) in [
        (json!(["1"]), "`target` must have 3 numbers."),
        (json!([]), "`target` must have 3 numbers."),
        (json!([1, 2, 3]), "`target` is not a list of texts."),
        (json!(null), "`target` is not a list of texts."),
    ] {
        state["target"] = wrong;
        assert_eq!(head(&state)["error"], error);
    }
}

/// What was typed for the target is shown in full, and moves dO by as much.
#[test]
fn an_edit_of_the_target_moves_the_error() {
    let mut state = backward_preset("toy");
    state["target"][0] = "1.125".into();
    let answer = head(&state);
    assert_eq!(matrix(&answer, "target")["shown"], json!([["1.125", "0.000", "0.000"]]));
    assert_eq!(matrix(&answer, "target")["rows"], json!(["the"]));
    assert_eq!(matrix(&answer, "dO")["shown"][4], json!(["−0.05", "0.26", "0.21"]));
    let numbers = shown(&cell(&state, "dO", 4, 0)["result"]);
    assert_eq!(numbers, Some((-5, 2)));
}

/// The data of the page is what the engine answers.
#[test]
fn the_page_has_what_the_engine_would_answer() {
    let data: Value =
        serde_json::from_str(&explorer::widgets::backward_pass().unwrap().data).unwrap();
    let toy = backward_preset("toy");
    assert_eq!(data["trace"], head(&toy));
    let cells = data["cells"].as_object().unwrap();
    assert_eq!(cells.len(), COMPUTED.len() + BACKWARD.len());
    for name in BACKWARD {
        for (row, derivations) in list(&cells[name]).iter().enumerate() {
            for (column, derivation) in list(derivations).iter().enumerate() {
                assert_eq!(derivation, &cell(&toy, name, row, column));
            }
        }
    }
    for preset in list(&data["presets"]) {
        assert!(text(&preset["about"]).ends_with('.'));
        assert_eq!(
            list(&preset["state"]["target"]).len(),
            list(&preset["state"]["messages"]).len()
        );
    }
}

/// The presets do what they are called.
#[test]
fn one_preset_is_sure_and_wrong_and_another_has_not_learned() {
    let wrong = head(&backward_preset("wrong"));
    assert!(exact(&matrix(&wrong, "A")["exact"][4][2]) > 0.99);
    assert!(exact(&matrix(&wrong, "L")["exact"][0][0]) > 2.0);
    let largest = |answer: &Value, name: &str| {
        let numbers = list(&matrix(answer, name)["exact"]).iter().flat_map(list).map(exact);
        numbers.fold(0.0, |largest: f64, number| largest.max(number.abs()))
    };
    assert!(largest(&wrong, "dA") > 1.0 && largest(&wrong, "dS") < 0.05);
    let fresh = head(&backward_preset("fresh"));
    assert!(largest(&fresh, "dK") == 0.0 && largest(&fresh, "dQ") > 0.05);
}
