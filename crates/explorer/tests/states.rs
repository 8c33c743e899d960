//! What readers type: numbers, names, states out of a link, and nonsense.

mod common;

use common::{ask, head, list, matrix, preset, text};
use serde_json::{Value, json};

fn number(typed: &str) -> Value {
    ask(&json!({"ask": "number", "text": typed}))
}

#[test]
fn numbers_are_read_in_every_usual_spelling() {
    for (typed, expected) in [
        ("0.5", "0.5"),
        (" 0.50 ", "0.5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("+1", "1"),
        ("−1", "-1"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("007", "7"),
        ("1e-3", "0.001"),
        ("1E3", "1000"),
        ("2.5e+1", "25"),
        ("1234e-1", "123.4"),
        ("0.1000000000000", "0.1"),
        ("0e999999999999999999999", "0"),
        ("-1000", "-1000"),
        ("1000.000", "1000"),
        ("1e−2", "0.01"),
    ] {
        assert_eq!(number(typed), json!({"text": expected}), "{typed}");
    }
}

#[test]
fn what_is_no_number_is_told_in_a_sentence() {
    for (typed, sentence) in [
        ("", "There is no number here; type one, such as 0.5."),
        ("  ", "There is no number here; type one, such as 0.5."),
        ("cat", "“cat” is not a number; type one, such as 0.5."),
        ("1 2", "“1 2” is not a number; type one, such as 0.5."),
        ("--1", "“--1” is not a number; type one, such as 0.5."),
        ("1e", "“1e” is not a number; type one, such as 0.5."),
        (".", "“.” is not a number; type one, such as 0.5."),
        ("1.2.3", "“1.2.3” is not a number; type one, such as 0.5."),
        ("½", "“½” is not a number; type one, such as 0.5."),
        ("NaN", "“NaN” stands for no number at all; type one, such as 0.5."),
        ("-nan", "“NaN” stands for no number at all; type one, such as 0.5."),
        ("1e308", "1e308 is too large here; type a number from −1000 to 1000."),
        ("∞", "∞ is too large here; type a number from −1000 to 1000."),
        ("-Infinity", "-Infinity is too large here; type a number from −1000 to 1000."),
        ("1000.001", "1000.001 is too large here; type a number from −1000 to 1000."),
        ("1000.0001", "1000.0001 is too large here; type a number from −1000 to 1000."),
        ("-1001", "-1001 is too large here; type a number from −1000 to 1000."),
        ("0,5", "Write a point, not a comma: 0.5."),
        ("−1,25", "Write a point, not a comma: −1.25."),
        ("0.0625", "0.0625 has more than 3 digits after the point; type 0.062, for example."),
        ("1e-4", "1e-4 has more than 3 digits after the point; type 0, for example."),
        (
            "1e-99999999999",
            "1e-99999999999 has more than 3 digits after the point; type 0, for example.",
        ),
    ] {
        assert_eq!(number(typed), json!({"sentence": sentence}), "{typed}");
    }
    let long = "9".repeat(5000);
    assert_eq!(
        number(&long)["sentence"],
        "9999999999999999… is too large here; type a number from −1000 to 1000."
    );
}

#[test]
fn stepping_is_exact_in_decimals_and_stops_at_the_ends() {
    let step = |text: &str, by: i64| ask(&json!({"ask": "step", "text": text, "by": by}));
    for (typed, by, expected) in [
        ("0.1", 2, "0.3"),
        ("0.3", -3, "0"),
        ("-0.1", 1, "0"),
        ("0.25", 1, "0.35"),
        ("1", 10, "2"),
        ("0.001", -10, "-0.999"),
        ("999.95", 1, "1000"),
        ("-1000", -10, "-1000"),
        ("0", i64::from(i32::MAX), "1000"),
    ] {
        assert_eq!(step(typed, by), json!({"text": expected}), "{typed} by {by}");
    }
    assert!(text(&step("cat", 1)["sentence"]).contains("not a number"));
}

#[test]
fn a_thousand_steps_up_and_down_lead_back() {
    let mut typed = "0".to_owned();
    for by in (0..1000).map(|_| 1).chain((0..1000).map(|_| -1)) {
        let answer = ask(&json!({"ask": "step", "text": typed, "by": by}));
        typed = text(&answer["text"]).to_owned();
    }
    assert_eq!(typed, "0");
}

#[test]
fn every_problem_is_found_where_it_stands() {
    let mut state = preset("toy");
    state["x"][2][3] = "".into();
    state["w_k"][0][1] = "1e308".into();
    state["w_v"][3][0] = "NaN".into();
    state["tokens"][4] = " ".into();
    let answer = head(&state);
    assert_eq!(answer["matrices"], json!([]));
    let told: Vec<_> = list(&answer["problems"])
        .iter()
        .map(|problem| {
            let sentence = text(&problem["sentence"]).split(['.', ';']).next();
            (problem["matrix"].clone(), problem["row"].clone(), problem["column"].clone(), sentence)
        })
        .collect();
    let expected = [
        (json!("tokens"), json!(4), json!(0), Some("A token needs a name")),
        (json!("X"), json!(2), json!(3), Some("There is no number here")),
        (json!("W_K"), json!(0), json!(1), Some("1e308 is too large here")),
        (json!("W_V"), json!(3), json!(0), Some("“NaN” stands for no number at all")),
    ];
    assert_eq!(told, expected);
    assert!(text(&common::cell(&state, "S", 0, 0)["error"]).contains("problems"));
}

fn change(state: &Value, change: &Value) -> Value {
    ask(&json!({"ask": "token", "state": state, "change": change}))
}

#[test]
fn tokens_are_added_with_their_neighbours_meaning() {
    let toy = preset("toy");
    let added = change(&toy, &json!({"add": {"after": 1}}))["state"].clone();
    assert_eq!(added["tokens"], json!(["The", "cat", "new", "sat", "on", "the"]));
    assert_eq!(added["x"][2], toy["x"][1]);
    assert_eq!(added["x"][3], toy["x"][2]);
    let twice = change(&added, &json!({"add": {"after": -1}}))["state"].clone();
    assert_eq!(twice["tokens"][0], "new 2");
    assert_eq!(twice["x"][0], toy["x"][0]);
    assert_eq!(list(&head(&twice)["matrices"]).len(), 12, "it can be computed");
    let last = change(&toy, &json!({"add": {"after": 4}}))["state"].clone();
    assert_eq!(last["tokens"][5], "new");
}

#[test]
fn there_are_one_to_twelve_tokens() {
    let mut state = preset("toy");
    for _ in 5..12 {
        state = change(&state, &json!({"add": {"after": 0}}))["state"].clone();
    }
    assert_eq!(list(&state["tokens"]).len(), 12);
    let full = change(&state, &json!({"add": {"after": 0}}));
    assert_eq!(full["sentence"], "There are 12 tokens already; remove one first.");
    for _ in 1..12 {
        state = change(&state, &json!({"remove": 0}))["state"].clone();
    }
    assert_eq!((&state["tokens"], list(&state["x"]).len()), (&json!(["the"]), 1));
    let last = change(&state, &json!({"remove": 0}));
    assert_eq!(last["sentence"], "A sentence has at least one token; this is the last.");
}

#[test]
fn tokens_are_renamed_within_reason() {
    let toy = preset("toy");
    let rename = |to: &str| change(&toy, &json!({"rename": 1, "to": to}));
    assert_eq!(rename("  dog ")["state"]["tokens"][1], "dog");
    assert_eq!(rename("<b>\"猫\"</b>")["state"]["tokens"][1], "<b>\"猫\"</b>");
    assert_eq!(rename("")["sentence"], "A token needs a name; type a word.");
    assert!(text(&rename(&"a".repeat(17))["sentence"]).contains("at most 16 characters"));
    assert_eq!(rename(&"é".repeat(16))["state"]["tokens"][1], "é".repeat(16));
    assert!(text(&rename("a\nb")["sentence"]).contains("one line"));
}

#[test]
fn changes_of_tokens_that_are_not_there_are_refused() {
    let toy = preset("toy");
    for (wrong, error) in [
        (json!({"remove": 5}), "There is no token 5."),
        (json!({"rename": 9, "to": "x"}), "There is no token 9."),
        (json!({"rename": -1, "to": "x"}), "`rename` is not 0 or more."),
        (json!({"add": {"after": 5}}), "There is no token 5 to add another after."),
        (json!({"add": {"after": -2}}), "There is no token -2 to add another after."),
        (json!({}), "The change is neither to add, to remove nor to rename."),
        (json!({"add": {"after": 0.5}}), "`after` is not a whole number."),
    ] {
        assert_eq!(change(&toy, &wrong)["error"], error, "{wrong}");
    }
}

#[test]
fn states_whose_sizes_do_not_fit_are_refused() {
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut state = preset("toy");
        change(&mut state);
        text(&head(&state)["error"]).to_owned()
    };
    assert_eq!(
        refused(&|state| state["x"][1] = json!(["1"])),
        "`x` must have 5 rows of 4 numbers."
    );
    assert_eq!(refused(&|state| state["w_v"] = json!([])), "`w_v` must have 4 rows of 3 numbers.");
    assert_eq!(
        refused(&|state| state["tokens"] = json!([])),
        "There are 0 `tokens`, but there must be 1 to 12."
    );
    assert_eq!(
        refused(&|state| state["matches"] = json!(["1", "2", "3", "4", "5", "6", "7", "8", "9"])),
        "There are 9 `matches`, but there must be 1 to 8."
    );
    assert_eq!(
        refused(&|state| state["messages"][0] = "m".repeat(41).into()),
        "One of the `messages` is longer than 40 characters."
    );
    assert_eq!(refused(&|state| state["mask"] = json!(1)), "`mask` is not true or false.");
    assert_eq!(
        refused(&|state| state["x"][0][0] = json!(1)),
        "`x` is not a list of rows of texts."
    );
    assert_eq!(
        refused(&|state| {
            state.as_object_mut().unwrap().remove("w_q");
        }),
        "The request has no member `w_q`."
    );
}

#[test]
fn requests_that_cannot_be_read_are_answered() {
    for (request, error) in [
        ("", "The request is not JSON."),
        ("{", "The request is not JSON."),
        ("[]", "The request has no member `ask`."),
        ("{\"ask\": 1}", "`ask` is not a text."),
        ("{\"ask\": \"moon\"}", "There is no such request: see `ask`."),
        ("{\"ask\": \"head\"}", "The request has no member `state`."),
        ("{\"ask\": \"head\", \"state\": 3}", "The request has no member `tokens`."),
    ] {
        assert_eq!(explorer::answer(request), json!({"error": error}).to_string(), "{request}");
    }
    let deep = "[".repeat(100_000);
    assert_eq!(explorer::answer(&deep), "{\"error\":\"The request is not JSON.\"}");
}

/// Worked by hand; the numbers are those of the chapter.
#[test]
fn the_toy_head_is_shown_as_in_the_chapter() {
    let answer = head(&preset("toy"));
    let shown = |name: &str| matrix(&answer, name)["shown"].clone();
    assert_eq!(shown("X")[0], json!(["0.1", "0.0", "0.9", "1.0"]));
    assert_eq!(shown("W_K")[2], json!(["−1", "0", "0"]));
    assert_eq!(shown("Q")[4], json!(["1.8", "0.2", "0.0"]));
    assert_eq!(shown("K")[3], json!(["−0.8", "0.6", "0.0"]));
    assert_eq!(shown("S")[4], json!(["−1.44", "1.80", "0.40", "−1.32", "−1.44"]));
    assert_eq!(shown("masked")[1], json!(["0.00", "0.00", "−∞", "−∞", "−∞"]));
    assert_eq!(shown("A")[4], json!(["0.08", "0.52", "0.23", "0.09", "0.08"]));
    assert_eq!(shown("O")[4], json!(["1.07", "0.26", "0.21"]));
    assert_eq!(matrix(&answer, "S")["open"], json!([1, 2, 3, 4, 5]));
    assert_eq!(matrix(&answer, "Q")["shape"], "(5, 3)");
    assert_eq!(matrix(&answer, "X").get("open"), None);
}

/// The shades are where the legend says they are.
#[test]
fn shades_run_from_the_lowest_to_the_highest_number() {
    let mut random = common::Random::new(7);
    let states = (0..100).map(|_| random.state()).chain([preset("toy"), preset("uniform")]);
    for answer in states.map(|state| head(&state)) {
        for matrix in list(&answer["matrices"]) {
            let zero = matrix["legend"]["zero"].as_f64().unwrap();
            let cells = |name: &str| -> Vec<Value> {
                list(&matrix[name]).iter().flat_map(|row| list(row).clone()).collect()
            };
            let mut pairs: Vec<(f64, f64)> = cells("exact")
                .iter()
                .map(common::exact)
                .zip(cells("shade").iter().map(|shade| shade.as_f64().unwrap()))
                .collect();
            pairs.push((0.0, zero));
            pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert!(pairs.is_sorted_by(|a, b| a.1 <= b.1), "{matrix}");
            assert!(pairs.iter().all(|(_, shade)| (0.0..=1.0).contains(shade)), "{matrix}");
            let highest = pairs.last().unwrap();
            if matrix["name"] == "A" {
                assert!((highest.0 - highest.1).abs() < 1e-3, "{matrix}");
            } else if highest.0 > 0.0 {
                assert_eq!(highest.1, 1.0, "{matrix}");
            }
        }
    }
}
