//! A head that learns, as the engine shows it: the training of the chapter, going
//! on and starting again, how it ends, and what seeds and rates are told that
//! cannot be used.

mod common;

use common::{ask, list, text};
use serde_json::{Value, json};

fn train(task: &str, seed: &str, rate: &str, steps: i64) -> Value {
    ask(&json!({"ask": "train", "task": task, "seed": seed, "rate": rate, "steps": steps}))
}

fn run(task: &str, seed: &str, rate: &str, steps: i64) -> Value {
    let answer = train(task, seed, rate, steps);
    assert_eq!(answer["problems"], json!([]));
    answer["run"].clone()
}

#[test]
fn the_page_has_what_the_engine_would_answer() {
    let data = explorer::widgets::learning_head().unwrap().data;
    let data: Value = serde_json::from_str(&data).expect("JSON");
    assert_eq!(list(&data["tasks"]).len(), 2);
    for task in list(&data["tasks"]) {
        let [seed, rate, name] = [&data["seed"], &data["rate"], &task["name"]].map(text);
        for stage in list(&task["stages"]) {
            assert_eq!(stage, &run(name, seed, rate, stage["steps"].as_i64().unwrap()));
        }
        assert_eq!(task["stages"][0]["steps"], 0);
        assert_eq!(task["stages"][2]["state"], "learned");
    }
}

#[test]
fn going_on_and_starting_again_give_the_same() {
    let on_its_way = [4, 9, 2, 9].map(|steps| run("previous", "5", "2", steps));
    let fresh = std::thread::spawn(|| run("previous", "5", "2", 9)).join().unwrap();
    assert_eq!(on_its_way[1], fresh);
    assert_eq!(on_its_way[3], fresh);
    assert_ne!(on_its_way[0], fresh);
    assert_ne!(run("previous", "6", "2", 9)["loss"], fresh["loss"]);
    assert_ne!(run("previous", "5", "1", 9)["loss"], fresh["loss"]);
    assert_ne!(run("noun", "5", "2", 9)["loss"], fresh["loss"]);
}

#[test]
fn what_is_shown_has_the_shapes_of_the_head() {
    let run = run("noun", "7", "1", 1);
    let sizes = list(&run["matrices"]).iter().map(|matrix| {
        (text(&matrix["name"]), list(&matrix["shown"]).len(), list(&matrix["shade"][0]).len())
    });
    assert_eq!(sizes.collect::<Vec<_>>(), [("W_Q", 18, 4), ("W_K", 18, 4), ("W_V", 18, 12)]);
    for matrix in list(&run["matrices"]) {
        // The weights of the start are below 1, and so a shade is the weight itself.
        assert_eq!(text(&matrix["full"]), "1.0");
        for (shown, shade) in list(&matrix["shown"]).iter().zip(list(&matrix["shade"])) {
            let number: f64 = text(&shown[0]).replace('−', "-").parse().unwrap();
            assert!((number - shade[0].as_f64().unwrap()).abs() < 0.0101, "{shown}, {shade}");
        }
    }
    for example in list(&run["examples"]) {
        let words = list(&example["words"]).len();
        assert_eq!(example["asked"], json!([[words - 2, words - 3], [words - 1, words - 3]]));
        assert_eq!(list(&example["shown"]).len(), words);
        assert_eq!(text(&example["shown"][0][0]), "1.00");
        assert_eq!(example["shade"][0][1], 0.0);
    }
    assert!(text(&run["spoken"]).starts_with("After 1 step, the loss is 2.4"), "{run}");
}

#[test]
fn a_training_ends_by_itself() {
    let learned = run("noun", "7", "10", 100);
    assert_eq!(learned["state"], "learned");
    assert_eq!(learned, run("noun", "7", "10", 1_000_000));
    assert!(text(&learned["spoken"]).starts_with("Learned after 29 steps, "), "{learned}");

    let diverged = run("noun", "7", "100", 100);
    assert_eq!((&diverged["state"], &diverged["steps"]), (&json!("diverged"), &json!(4)));
    assert!(text(&diverged["spoken"]).contains("more than 4 times that of the start"));
    assert!(text(&diverged["spoken"]).ends_with("Reset, and try a lower one."));
}

#[test]
fn a_seed_or_rate_that_cannot_be_used_is_told_at_its_field() {
    for (seed, rate, field, sentence) in [
        ("", "1", "seed", "There is no seed here"),
        ("cat", "1", "seed", "“cat” is not a whole number"),
        ("-1", "1", "seed", "“-1” is not a whole number"),
        ("1.5", "1", "seed", "“1.5” is not a whole number"),
        ("1e308", "1", "seed", "“1e308” is not a whole number"),
        ("1000000000", "1", "seed", "1000000000 is too large here"),
        ("99999999999999999999999", "1", "seed", "9999999999999999… is too large here"),
        ("7", "", "rate", "There is no number here"),
        ("7", "fast", "rate", "“fast” is not a number"),
        ("7", "0", "rate", "A learning rate is above 0"),
        ("7", "-1", "rate", "A learning rate is above 0"),
        ("7", "1e308", "rate", "1e308 is too large here"),
        ("7", "0,5", "rate", "Write a point, not a comma"),
        ("7", "NaN", "rate", "“NaN” stands for no number"),
    ] {
        let answer = train("noun", seed, rate, 3);
        let [problem] = list(&answer["problems"]).as_slice() else { panic!("{answer}") };
        assert_eq!((text(&problem["field"]), answer.get("run")), (field, None));
        assert!(text(&problem["sentence"]).starts_with(sentence), "{problem}");
    }
    assert_eq!(list(&train("noun", "x", "y", 3)["problems"]).len(), 2);
}

#[test]
fn a_request_of_another_shape_is_an_error() {
    let error = |request: Value| {
        let answer: Value = serde_json::from_str(&explorer::answer(&request.to_string())).unwrap();
        text(&answer["error"]).to_owned()
    };
    let with = |task: &str, steps: Value| json!({"ask": "train", "task": task, "seed": "7", "rate": "1", "steps": steps});
    assert_eq!(error(with("verb", json!(1))), "`task` is neither `noun` nor `previous`.");
    assert_eq!(error(with("noun", json!(-1))), "`steps` is not 0 or more.");
    assert_eq!(error(with("noun", json!(0.5))), "`steps` is not a whole number.");
    assert_eq!(error(json!({"ask": "train"})), "The request has no member `steps`.");
}
