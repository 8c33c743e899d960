//! The soft lookup: known answers, both ends of the temperature, and the plane.

mod common;

use common::{ask, exact, list, text};
use serde_json::{Value, json};

fn data() -> Value {
    let data = explorer::widgets::soft_lookup().expect("its numbers are numbers").data;
    serde_json::from_str(&data).expect("JSON")
}

fn look_up(change: impl Fn(&mut Value)) -> Value {
    let mut state = data()["state"].clone();
    change(&mut state);
    ask(&json!({"ask": "lookup", "state": state}))
}

fn weights(answer: &Value) -> Vec<f64> {
    list(&answer["keys"]).iter().map(|key| exact(&key["weight"]["exact"])).collect()
}

fn shown<'a>(answer: &'a Value, member: &str, name: &str) -> Vec<&'a str> {
    list(&answer[member]).iter().map(|part| text(&part[name]["shown"])).collect()
}

#[test]
fn the_page_has_what_the_engine_would_answer() {
    assert_eq!(data()["answer"], look_up(|_| {}));
}

/// Scores worked by hand: 1·1, 1·0.8 + 0.8·0.6, 0.8 and 0. Weights from a table
/// of exponentials: 2.718, 3.597, 2.226 and 1, over their sum 9.540.
#[test]
fn the_drinks_are_those_of_the_chapter() {
    let answer = look_up(|_| {});
    assert_eq!(shown(&answer, "keys", "score"), ["1.00", "1.28", "0.80", "0.00"]);
    assert_eq!(shown(&answer, "keys", "weight"), ["0.28", "0.38", "0.23", "0.10"]);
    assert_eq!(shown(&answer, "mixed", "number"), ["2.93", "3.48", "1.70"]);
    assert_eq!(answer["temperature"]["shown"], "τ = 1.00");
    assert_eq!(
        answer["spoken"],
        "The query is sweet 1.0 and bitter 0.8. Temperature: 1.00, plain softmax. The answer \
         takes 0.28 of juice, 0.38 of cocoa, 0.23 of coffee and 0.10 of water: 2.93 coins, 3.48 \
         minutes and 1.70 spoons of sugar."
    );
}

#[test]
fn the_left_end_is_exact_lookup_and_the_right_end_the_average() {
    let exact_lookup = look_up(|state| state["temperature"] = json!(0));
    assert_eq!(weights(&exact_lookup), [0.0, 1.0, 0.0, 0.0]);
    assert_eq!(shown(&exact_lookup, "mixed", "number"), ["4.00", "6.00", "3.00"]);
    assert_eq!(exact_lookup["temperature"]["shown"], "τ → 0");
    let average = look_up(|state| state["temperature"] = json!(1000));
    assert_eq!(weights(&average), [0.25; 4]);
    assert_eq!(shown(&average, "mixed", "number"), ["2.50", "2.75", "1.25"]);
    assert_eq!(average["temperature"]["exact"], "∞");
    let beyond = look_up(|state| state["temperature"] = json!(-50));
    assert_eq!(beyond, exact_lookup);
}

/// Juice scores 0.21, cocoa 0.21·0.8 + 0.07·0.6 = 0.168 + 0.042 = 0.21: the
/// same in decimals, though not in binary.
#[test]
fn equal_best_matches_share_an_exact_lookup() {
    let answer = look_up(|state| {
        state["temperature"] = json!(0);
        state["query"] = json!(["0.21", "0.07"]);
    });
    assert_eq!(weights(&answer), [0.5, 0.5, 0.0, 0.0]);
}

#[test]
fn the_temperature_rises_along_the_slider() {
    let temperature = |place: usize| {
        exact(&look_up(|state| state["temperature"] = json!(place))["temperature"]["exact"])
    };
    let temperatures: Vec<f64> = (0..=1000).step_by(10).map(temperature).collect();
    assert!(temperatures.is_sorted(), "{temperatures:?}");
    assert_eq!((temperature(1), temperature(500), temperature(999)), (0.05, 1.0, 20.0));
    let best: Vec<f64> = (0..=1000)
        .step_by(50)
        .map(|place| weights(&look_up(|state| state["temperature"] = json!(place)))[1])
        .collect();
    assert!(best.is_sorted_by(|a, b| a >= b), "{best:?}");
}

#[test]
fn a_query_keeps_its_place_on_the_plane() {
    let point = |x: f64, y: f64| ask(&json!({"ask": "point", "x": x, "y": y}))["query"].clone();
    assert_eq!(point(0.0, 1.0), json!(["-0.25", "1.5"]));
    assert_eq!(point(0.5, -7.0), json!(["0.63", "-0.25"]));
    for (x, y) in [(0.1, 0.9), (0.33, 0.77), (1.0, 0.0)] {
        let query = point(x, y);
        let answer = look_up(|state| state["query"] = query.clone());
        let place = |axis: &str| answer["query"][axis].as_f64().unwrap();
        assert!((place("x") - x).abs() < 3e-3 && (place("y") - y).abs() < 3e-3, "{answer}");
    }
}

#[test]
fn a_query_is_moved_by_tenths_and_kept_inside() {
    let nudge = |query: Value, x: i64, y: i64| {
        ask(&json!({"ask": "nudge", "query": query, "x": x, "y": y}))
    };
    assert_eq!(nudge(json!(["1", "0.8"]), 1, -1), json!({"query": ["1.1", "0.7"]}));
    assert_eq!(nudge(json!(["1.45", "-0.2"]), 1, -1), json!({"query": ["1.5", "-0.25"]}));
    assert_eq!(nudge(json!(["900", "0"]), 0, 0), json!({"query": ["1.5", "0"]}));
    assert!(text(&nudge(json!(["cat", "0"]), 0, 0)["sentence"]).contains("not a number"));
    assert!(nudge(json!(["1"]), 0, 0).get("error").is_some());
}

#[test]
fn states_that_cannot_be_looked_up_are_refused() {
    let refused = |change: &dyn Fn(&mut Value)| text(&look_up(change)["error"]).to_owned();
    assert!(
        refused(&|state| state["query"] = json!(["", "1"])).starts_with("`query`: There is no")
    );
    assert_eq!(
        refused(&|state| state["keys"][0] = json!(["1"])),
        "`keys` must have 4 rows of 2 numbers."
    );
    assert_eq!(refused(&|state| state["axes"] = json!([])), "There must be two `axes`.");
    assert_eq!(
        refused(&|state| state["names"] = json!([])),
        "There must be 1 to 8 `names` and `facts`."
    );
}
