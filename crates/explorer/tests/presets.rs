//! The presets do what they are called, and the data in the page is what the
//! engine answers.

mod common;

use common::{COMPUTED, cell, exact, head, list, matrix, preset, text};
use serde_json::Value;

/// The weights of a preset, with its tokens.
fn weights(name: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let state = preset(name);
    let answer = head(&state);
    let rows = list(&matrix(&answer, "A")["exact"]);
    let weights = rows.iter().map(|row| list(row).iter().map(exact).collect()).collect();
    (list(&state["tokens"]).iter().map(|token| text(token).to_owned()).collect(), weights)
}

#[test]
fn previous_looks_at_the_previous_token() {
    let (_, weights) = weights("previous");
    assert_eq!(weights[0][0], 1.0);
    for (row, weights) in weights.iter().enumerate().skip(1) {
        assert!(weights[row - 1] >= 0.9, "{weights:?}");
    }
}

#[test]
fn same_looks_at_the_same_word_here_and_before() {
    let (tokens, weights) = weights("same");
    for (row, weights) in weights.iter().enumerate() {
        let alike: Vec<usize> = (0..=row).filter(|&key| tokens[key] == tokens[row]).collect();
        for &key in &alike {
            assert!(weights[key] >= 0.9 / alike.len() as f64, "{}: {weights:?}", tokens[row]);
            assert_eq!(weights[key], weights[row]);
        }
    }
    assert!(tokens.len() > 4 && tokens[0] == tokens[4], "a word comes twice");
}

#[test]
fn uniform_looks_at_every_open_token_alike() {
    let (_, weights) = weights("uniform");
    for (row, weights) in weights.iter().enumerate() {
        for (key, &weight) in weights.iter().enumerate() {
            assert_eq!(weight, if key <= row { 1.0 / (row + 1) as f64 } else { 0.0 });
        }
    }
}

/// So that no two axes of a preset can be taken for each other, but the chapter's.
#[test]
fn the_sizes_of_the_presets_differ() {
    for name in ["previous", "same", "uniform"] {
        let state = preset(name);
        let size = |name: &str| list(&state[name]).len();
        let sizes = [size("tokens"), size("meanings"), size("matches"), size("messages")];
        for (place, size) in sizes.iter().enumerate() {
            assert!(!sizes[place + 1..].contains(size), "{name}: {sizes:?}");
        }
    }
}

#[test]
fn each_preset_says_what_it_is() {
    let presets: Value = serde_json::from_str(&explorer::presets::json()).unwrap();
    let names: Vec<_> = list(&presets).iter().map(|preset| text(&preset["name"])).collect();
    assert_eq!(names, ["toy", "previous", "same", "uniform"]);
    for preset in list(&presets) {
        assert!(!text(&preset["title"]).is_empty());
        assert!(text(&preset["about"]).ends_with('.'));
    }
}

#[test]
fn the_page_has_what_the_engine_would_answer() {
    let data = explorer::widgets::attention_head().unwrap().data;
    assert!(!data.contains('<'), "it could end the script element");
    let data: Value = serde_json::from_str(&data).unwrap();
    let toy = preset("toy");
    assert_eq!(data["presets"][0]["state"], toy);
    assert_eq!(data["trace"], head(&toy));
    let cells = data["cells"].as_object().unwrap();
    assert_eq!(cells.len(), COMPUTED.len());
    for name in COMPUTED {
        for (row, derivations) in list(&cells[name]).iter().enumerate() {
            for (column, derivation) in list(derivations).iter().enumerate() {
                assert_eq!(derivation, &cell(&toy, name, row, column));
            }
        }
    }
}
