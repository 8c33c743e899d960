//! The trained transformer, asked as a page asks it: what is read, what is said of
//! sentences that cannot be, and of files that are no weights.

mod common;

use common::{ask, list, text};
use serde_json::{Value, json};

const KEPT: &[u8] = include_bytes!("../../../book/src/widgets/patterns.safetensors");

fn read(words: &str, off: &[(usize, usize)]) -> Value {
    assert!(explorer::keep_weights(KEPT).starts_with("{\"heads\":"));
    ask(&json!({"ask": "read", "words": words, "off": off}))
}

/// What is wrong with a sentence.
fn problem(words: &str) -> Value {
    read(words, &[])["problem"].clone()
}

#[test]
fn a_reading_fits_what_the_model_says_itself() {
    let reader = learning::reader::Reader::from_bytes(KEPT).unwrap();
    let (words, off) = ("the birds near the old cat", [(1, 1), (0, 3)]);
    let [all, now] = [&[][..], &off].map(|off| reader.read(words, off).unwrap());
    let reading = &read(words, &off)["reading"];
    assert_eq!(reading["words"], json!([".", "the", "birds", "near", "the", "old", "cat"]));
    for (layer, heads) in now.maps.iter().enumerate() {
        for (head, map) in heads.iter().enumerate() {
            for ((from, to), &weight) in map.indexed_iter() {
                let share = &reading["maps"][layer][head][from][to];
                if to > from {
                    assert_eq!(share, &Value::Null);
                } else {
                    assert_eq!(text(&share["shown"]), format!("{weight:.2}"));
                    assert!((share["share"].as_f64().unwrap() - f64::from(weight)).abs() < 6e-4);
                }
            }
        }
    }
    for (name, next) in [("before", &all.next), ("after", &now.next)] {
        for (at, row) in next.outer_iter().enumerate() {
            let likeliest = list(&reading[name][at]["likeliest"]);
            let largest = row.fold(0.0_f32, |largest, &chance| largest.max(chance));
            assert_eq!(likeliest.len(), 6);
            assert_eq!(text(&likeliest[0]["chance"]["shown"]), format!("{largest:.2}"));
        }
    }
    assert_eq!(read(words, &[])["reading"].get("after"), None, "nothing is switched off");
}

#[test]
fn what_cannot_be_read_is_told_in_sentences() {
    assert_eq!(problem("  "), json!({"sentence": "There is no word to read."}));
    assert_eq!(
        problem(&"cat ".repeat(40)),
        json!({"sentence":
            "40 words are too many: the model reads 31 at most, full stops included."})
    );
    assert_eq!(
        problem("the Cat.he catz"),
        json!({
            "sentence": "The model does not know the word “he”.",
            "suggestion": "the",
            "mended": "the Cat . the catz",
        })
    );
    let mended = problem("the Cat . the catz");
    assert_eq!(text(&mended["mended"]), "the Cat . the cats");
    assert!(text(&problem("<b>\"\\\u{0}")["sentence"]).contains("<b>\"\\"));
    assert_eq!(problem("the"), Value::Null);
}

#[test]
fn requests_of_another_kind_are_errors() {
    let _ = explorer::keep_weights(KEPT);
    for off in [json!(3), json!([1]), json!([[1]]), json!([[1, "x"]]), json!([[0.5, 1]])] {
        let answer = ask(&json!({"ask": "read", "words": "the cat", "off": off}));
        assert_eq!(text(&answer["error"]), "`off` is not a list of pairs of layer and head.");
    }
    let answer = ask(&json!({"ask": "read", "words": "the cat", "off": [[7, 0]]}));
    assert!(text(&answer["problem"]["sentence"]).starts_with("There is no head 0 in layer 7"));
    assert!(text(&ask(&json!({"ask": "read", "off": []}))["error"]).contains("words"));
}

/// Each test has a thread of its own, and so no weights at first.
#[test]
fn without_weights_or_with_wrong_ones_it_says_so() {
    let asked = json!({"ask": "read", "words": "the cat", "off": []});
    assert_eq!(text(&ask(&asked)["error"]), "The weights of the model have not been loaded.");
    let cut_off = explorer::keep_weights(&KEPT[..KEPT.len() / 2]);
    assert!(cut_off.starts_with("{\"error\":\"This is no whole safetensors file"), "{cut_off}");
    assert!(ask(&asked).get("error").is_some(), "still none");
    let mut changed = KEPT.to_vec();
    *changed.last_mut().unwrap() ^= 1;
    assert!(explorer::keep_weights(&changed).contains("changed after they were made"));
    assert!(explorer::keep_weights(b"").contains("no whole safetensors file"));
}

/// The engine takes files apart by itself; the crate for the format is its oracle.
#[test]
fn damaged_files_are_refused_where_the_crate_refuses_them() {
    let accepted = |bytes: &[u8]| {
        let here = !explorer::keep_weights(bytes).contains("error");
        let crate_says = learning::weights::from_bytes(bytes).is_ok();
        assert_eq!(here, crate_says, "{}", explorer::keep_weights(bytes));
        here
    };
    assert!(accepted(KEPT));
    let mut random = common::Random::new(3);
    let header = 8 + u64::from_le_bytes(KEPT[..8].try_into().unwrap()) as usize;
    for _ in 0..150 {
        let length = random.below(KEPT.len());
        assert!(!accepted(&KEPT[..length]));
    }
    for _ in 0..300 {
        let mut bytes = KEPT.to_vec();
        bytes[random.below(header)] = random.below(128) as u8;
        let _ = accepted(&bytes);
    }
    let mut longer = KEPT.to_vec();
    longer.push(0);
    assert!(!accepted(&longer));
}
