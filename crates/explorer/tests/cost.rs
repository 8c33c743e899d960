//! The cost calculator: counts worked by hand, the published models, doubling,
//! and what sizes that cannot be used are told.

mod common;

use common::{ask, list, text};
use serde_json::{Value, json};

fn data() -> Value {
    let data = explorer::widgets::cost_calculator().expect("the machine was measured").data;
    serde_json::from_str(&data).expect("JSON")
}

/// A state of all different, small sizes, on a machine of 100 operations and 20
/// bytes a nanosecond.
fn small() -> Value {
    json!({
        "tokens": "10", "layers": "2", "d_model": "6", "heads": "4", "d": "3",
        "key_value_heads": "2", "feed_forward": "11", "feed_forward_matrices": "3",
        "vocabulary": "7", "tied": false, "bytes": "2", "gigaflops": 100, "gigabytes": 20
    })
}

fn count(change: impl Fn(&mut Value)) -> Value {
    let mut state = small();
    change(&mut state);
    ask(&json!({"ask": "cost", "state": state}))
}

/// The cells of a row as they are shown.
fn row<'a>(answer: &'a Value, table: &str, name: &str) -> Vec<&'a str> {
    let table = list(&answer["tables"]).iter().find(|each| each["name"] == table).expect(table);
    let row = list(&table["rows"]).iter().find(|row| row["name"] == name).expect(name);
    list(&row["cells"]).iter().map(|cell| text(&cell["shown"])).collect()
}

fn problems(answer: &Value) -> Vec<(&str, &str)> {
    assert_eq!(answer["tables"], json!([]), "with problems there is nothing to show");
    list(&answer["problems"])
        .iter()
        .map(|each| (each["field"].as_str().unwrap_or(""), text(&each["sentence"])))
        .collect()
}

#[test]
fn the_page_has_what_the_engine_would_answer() {
    let data = data();
    let state = &data["presets"][0]["state"];
    assert_eq!(data["answer"], ask(&json!({"ask": "cost", "state": state})));
    assert_eq!(list(&data["presets"]).len(), 5);
}

/// Project: three products of (10, 6)·(6, 3), 180 multiplications each, that
/// read 60 + 18 numbers and write 30. Score: 10·10·3, from twice 30 to 100
/// numbers. In a machine of 100 operations and 20 bytes a nanosecond, 648 bytes
/// take 32.4 ns, 320 bytes 16 ns and 400 bytes 20 ns.
#[test]
fn the_steps_are_those_worked_by_hand() {
    let answer = count(|_| {});
    assert_eq!(answer["problems"], json!([]));
    let [kib, ns, million] = ["\u{a0}KiB", "\u{a0}ns", "\u{a0}million"];
    let steps = |name| row(&answer, "steps", name);
    assert_eq!(steps("project"), ["540", "1080", "648 bytes", "1.67", &format!("32.4{ns}"), "×2"]);
    assert_eq!(steps("score"), ["300", "600", "320 bytes", "1.88", &format!("16.0{ns}"), "×4"]);
    assert_eq!(steps("scale"), ["100", "100", "400 bytes", "0.25", &format!("20.0{ns}"), "×4"]);
    assert_eq!(steps("mask"), ["0", "0", "400 bytes", "0.00", &format!("20.0{ns}"), "–"]);
    assert_eq!(steps("softmax"), ["0", "400", "400 bytes", "1.00", &format!("20.0{ns}"), "×4"]);
    assert_eq!(steps("mix"), ["300", "600", "320 bytes", "1.88", &format!("16.0{ns}"), "×4"]);
    // 1840 bytes are 1.797 KiB, and the five times add up to 92 ns.
    assert_eq!(
        steps("2 to 6 together"),
        ["700", "1700", &format!("1.80{kib}"), "0.92", &format!("92.0{ns}"), "×4"]
    );
    // One block: 30 numbers of Q, 60 of K and V, and 30 of O: 240 bytes, 12 ns;
    // 1700 operations take 17.
    assert_eq!(steps("in tiles"), ["700", "1700", "240 bytes", "7.08", &format!("17.0{ns}"), "×4"]);
    let many = count(|state| state["tokens"] = json!("1 000"));
    assert_eq!(row(&many, "steps", "scale")[0], format!("1.00{million}"));
}

/// A layer has 6·3·(2·4 + 2·2) = 216 weights of attention and 3·6·11 = 198 more;
/// the embedding 7·6 = 42. By weights 2·414 + 42 = 870 multiplications for a token;
/// by keys 2·2·4·3 = 48 for a key. A text of 10 has 55 open scores.
#[test]
fn the_model_is_that_worked_by_hand() {
    let answer = count(|_| {});
    let model = |name| row(&answer, "model", name);
    assert_eq!(model("multiplications by weights"), ["8700", "×2", "870", "×1"]);
    // 210 open scores for 20 tokens: 210/55.
    assert_eq!(model("by keys and values"), ["2640", "×3.82", "480", "×2"]);
    // 20 tokens: 2·(17400 + 10080) = 54960, and 2·(870 + 960) = 3660.
    assert_eq!(model("operations"), ["22\u{202f}680", "×2.42", "2700", "×1.36"]);
    // 870 weights, and 2·2·2·3·10 = 240 numbers of keys and values: 2220 bytes.
    assert_eq!(model("bytes moved at least"), ["2.17\u{a0}KiB", "×1.22", "2.17\u{a0}KiB", "×1.22"]);
    assert_eq!(model("operations for a byte"), ["10.2", "×1.99", "1.22", "×1.11"]);
    assert_eq!(model("time to compute"), ["227\u{a0}ns", "×2.42", "27.0\u{a0}ns", "×1.36"]);
    assert_eq!(model("time to move"), ["111\u{a0}ns", "×1.22", "111\u{a0}ns", "×1.22"]);
    assert_eq!(model("takes at least"), ["227\u{a0}ns", "×2.42", "111\u{a0}ns", "×1.22"]);
    let memory = |name| row(&answer, "memory", name);
    assert_eq!(memory("all weights"), ["912", "1.78\u{a0}KiB", "×1"]);
    assert_eq!(memory("keys and values of a token"), ["24", "48 bytes", "×1"]);
    assert_eq!(memory("KV cache of T tokens"), ["240", "480 bytes", "×2"]);
    assert_eq!(memory("scores of a layer, if stored"), ["400", "800 bytes", "×4"]);
    assert_eq!(
        answer["sentences"],
        json!([
            "Twice the tokens: ×4 scores, ×2.42 operations to read the text, ×1.36 to write a \
             token.",
            "The ridge of the measured machine is at 5.0 operations for a byte: there, reading \
             this text waits for arithmetic, and writing for memory.",
            "A token that sees 18 keys takes as many multiplications by keys and values as by \
             weights.",
        ])
    );
    assert_eq!(
        answer["spoken"],
        "10 tokens: reading them takes at least 227\u{a0}ns, writing one more at least \
         111\u{a0}ns."
    );
    let tied = count(|state| state["tied"] = json!(true));
    assert_eq!(row(&tied, "memory", "all weights")[0], "870");
    assert_eq!(row(&tied, "model", "multiplications by weights")[2], "870");
}

/// As published: 6.74, 8.03 and 175 billion weights. Llama 2 has 2·32 layers of
/// 4096 numbers of 2 bytes for a token, half a MiB; Llama 3 a quarter of that.
#[test]
fn the_published_models_are_there() {
    let data = data();
    let preset = |title: &str| {
        let presets = list(&data["presets"]);
        let found = presets.iter().find(|each| text(&each["title"]).starts_with(title));
        ask(&json!({"ask": "cost", "state": found.expect(title)["state"]}))
    };
    let llama_2 = preset("Llama 2 7B");
    assert_eq!(row(&llama_2, "memory", "all weights")[0], "6.74\u{a0}billion");
    assert_eq!(row(&llama_2, "memory", "keys and values of a token")[1], "512\u{a0}KiB");
    let llama_3 = preset("Llama 3 8B");
    assert_eq!(row(&llama_3, "memory", "all weights")[0], "8.03\u{a0}billion");
    assert_eq!(row(&llama_3, "memory", "keys and values of a token")[1], "128\u{a0}KiB");
    assert_eq!(row(&llama_3, "memory", "KV cache of T tokens")[1], "1.00\u{a0}GiB");
    let gpt_3 = preset("GPT-3");
    assert_eq!(row(&gpt_3, "memory", "all weights")[0], "175\u{a0}billion");
    assert_eq!(row(&gpt_3, "memory", "KV cache of T tokens")[1], "9.00\u{a0}GiB");
}

#[test]
fn what_is_left_empty_follows() {
    let answer = count(|state| {
        for size in ["d", "key_value_heads", "feed_forward"] {
            state[size] = json!(" ");
        }
        state["d_model"] = json!("12");
    });
    assert_eq!(answer["follows"], json!({"d": "3", "key_value_heads": "4", "feed_forward": "48"}));
    let typed = count(|state| {
        state["d"] = json!("3");
        state["key_value_heads"] = json!("4");
        state["feed_forward"] = json!("48");
        state["d_model"] = json!("12");
    });
    assert_eq!(answer, typed);
    let uneven = count(|state| state["d"] = json!(""));
    assert_eq!(uneven["follows"]["d"], "");
    assert_eq!(
        problems(&uneven),
        [(
            "d",
            "A width of 6 cannot be shared out evenly among 4 heads; type a head size, or change \
             one of them."
        )]
    );
}

#[test]
fn what_cannot_be_used_is_told_where_it_stands() {
    for (typed, sentence) in [
        ("", "There is no number here; type a whole one, such as 12."),
        ("0", "0 is too small here; there must be at least 1."),
        ("1.5", "“1.5” is not a whole number above 0; type one in plain digits, such as 4096."),
        ("-3", "“-3” is not a whole number above 0; type one in plain digits, such as 4096."),
        ("8,192", "“8,192” is not a whole number above 0; type one in plain digits, such as 4096."),
        ("NaN", "“NaN” is not a whole number above 0; type one in plain digits, such as 4096."),
        (
            "1000000001",
            "1000000001 is too large here; type a number up to 1\u{202f}000\u{202f}000\u{202f}000.",
        ),
        (
            "99999999999999999999999999",
            "9999999999999999… is too large here; type a number up to \
             1\u{202f}000\u{202f}000\u{202f}000.",
        ),
    ] {
        for field in ["tokens", "layers", "d_model", "heads", "vocabulary"] {
            let answer = count(|state| state[field] = json!(typed));
            assert_eq!(problems(&answer), [(field, sentence)], "{typed}");
        }
    }
    let two = count(|state| {
        state["tokens"] = json!("x");
        state["vocabulary"] = json!("");
    });
    assert_eq!(
        problems(&two).iter().map(|each| each.0).collect::<Vec<_>>(),
        ["tokens", "vocabulary"]
    );
    let uneven = count(|state| state["key_value_heads"] = json!("3"));
    assert_eq!(
        problems(&uneven),
        [(
            "key_value_heads",
            "4 heads cannot share 3 key heads evenly; type a divisor of 4, or nothing for no \
             sharing."
        )]
    );
    for typed in ["+12", " 0012 ", "1_2", "1\u{202f}2"] {
        assert_eq!(
            count(|state| state["tokens"] = json!(typed)),
            count(|state| state["tokens"] = json!("12"))
        );
    }
}

#[test]
fn counts_that_do_not_fit_are_told() {
    let large = count(|state| state["tokens"] = json!("1000000000"));
    let told = problems(&large);
    assert_eq!(told[0].0, "", "no size alone is wrong");
    assert!(
        told[0].1.starts_with("Too large together: the operations of the whole text would"),
        "{}",
        told[0].1
    );
    for field in ["layers", "d_model", "vocabulary", "heads"] {
        let answer = count(|state| {
            for size in ["tokens", field] {
                state[size] = json!("1000000000");
            }
            if field == "heads" {
                state["key_value_heads"] = json!("");
            }
        });
        assert!(problems(&answer)[0].1.contains("64 bits"), "{field}");
    }
    // 9 operations for each of 10¹⁸ scores fit; for 4·10¹⁸ they no longer do.
    let edge = count(|state| {
        state["tokens"] = json!("1000000000");
        for size in ["d", "heads", "key_value_heads", "layers"] {
            state[size] = json!("1");
        }
    });
    assert_eq!(row(&edge, "steps", "2 to 6 together")[1], "9.00·10¹⁸");
    assert_eq!(row(&edge, "steps", "2 to 6 together")[5], "–");
}

#[test]
fn sizes_double_and_halve() {
    let double =
        |typed: &str, times: i64| ask(&json!({"ask": "double", "text": typed, "times": times}));
    for (typed, times, expected) in [
        ("4096", 1, "8192"),
        ("4 096", -1, "2048"),
        ("5", -1, "2"),
        ("1", -1, "1"),
        ("7", 0, "7"),
        ("3", 4, "48"),
        ("600000000", 1, "600000000"),
        ("1", 1_000_000, "536870912"),
        ("1000000000", -1_000_000, "1"),
    ] {
        assert_eq!(double(typed, times), json!({"text": expected}), "{typed} {times}");
    }
    assert!(text(&double("cat", 1)["sentence"]).contains("not a whole number"));
}

#[test]
fn requests_of_another_shape_are_refused() {
    let refused = |change: &dyn Fn(&mut Value)| text(&count(change)["error"]).to_owned();
    assert_eq!(refused(&|state| state["bytes"] = json!("3")), "`bytes` is none of 1, 2, 4.");
    assert_eq!(
        refused(&|state| state["feed_forward_matrices"] = json!("")),
        "`feed_forward_matrices` is none of 2, 3."
    );
    assert_eq!(refused(&|state| state["tokens"] = json!(4)), "`tokens` is not a text.");
    assert_eq!(
        refused(&|state| state["gigabytes"] = json!(0)),
        "`gigaflops` and `gigabytes` must be more than 0."
    );
}
