//! What the tests share: asking the engine, and heads made at random from a
//! seed. Random heads are small mostly, and now and then as large, as equal or
//! as oddly typed as a reader could make them.
#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod again;

use serde_json::{Value, json};

/// Asks the engine, natively.
pub(crate) fn ask(request: &Value) -> Value {
    let answer = explorer::answer(&request.to_string());
    serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

/// Asks for all matrices of a head.
pub(crate) fn head(state: &Value) -> Value {
    ask(&json!({"ask": "head", "state": state}))
}

/// Asks how a cell was computed.
pub(crate) fn cell(state: &Value, matrix: &str, row: usize, column: usize) -> Value {
    ask(&json!({"ask": "cell", "state": state, "matrix": matrix, "row": row, "column": column}))
}

/// A matrix of an answer.
pub(crate) fn matrix<'a>(head: &'a Value, name: &str) -> &'a Value {
    let matrices = head["matrices"].as_array().expect("a list of matrices");
    matrices.iter().find(|matrix| matrix["name"] == name).expect("every matrix is there")
}

/// A state of a preset, with which `change` may do as it likes.
pub(crate) fn preset(name: &str) -> Value {
    let presets: Value = serde_json::from_str(&explorer::presets::json()).expect("JSON");
    let presets = presets.as_array().expect("a list");
    presets.iter().find(|preset| preset["name"] == name).expect("the preset")["state"].clone()
}

/// A state of a preset of the backward pass.
pub(crate) fn backward_preset(name: &str) -> Value {
    let data = explorer::widgets::backward_pass().expect("it can be computed").data;
    let data: Value = serde_json::from_str(&data).expect("JSON");
    let presets = list(&data["presets"]);
    presets.iter().find(|preset| preset["name"] == name).expect("the preset")["state"].clone()
}

/// An exact number of an answer.
pub(crate) fn exact(value: &Value) -> f64 {
    match value {
        Value::String(text) if text == "∞" => f64::INFINITY,
        Value::String(text) if text == "−∞" => f64::NEG_INFINITY,
        other => other.as_f64().unwrap_or_else(|| panic!("{other} is no exact number")),
    }
}

/// A list of an answer.
pub(crate) fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list"))
}

/// A text of an answer.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// Numbers at random: Marsaglia's xorshift with 64 bits, then a multiplication.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// From 0 to `end`, without `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }

    /// A number as somebody might type it.
    fn number(&mut self, largest: usize, decimals: usize) -> String {
        let power = 10_usize.pow(decimals as u32);
        let units = self.below(2 * largest * power + 1);
        let thousandths = units as i64 * (1000 / power as i64) - (largest * 1000) as i64;
        let plain = (thousandths as f64 / 1000.0).to_string();
        match self.below(12) {
            0 => plain.replace('-', "−"),
            1 => format!(" {plain} "),
            2 if !plain.starts_with('-') => format!("+{plain}"),
            3 if plain.starts_with("0.") => plain[1..].to_owned(),
            4 => format!("{thousandths}e-3"),
            _ => plain,
        }
    }

    /// Sizes for the cost calculator: mostly ones that fit each other, of any
    /// magnitude, and now and then something else.
    pub(crate) fn cost_state(&mut self) -> Value {
        const ODD: [&str; 8] = ["", "0", "-1", "1.5", "12x", "1 000", "_", "99999999999999999999"];
        let mut size = |magnitudes: usize| {
            if self.below(40) == 0 {
                return ODD[self.below(ODD.len())].to_owned();
            }
            let digits = 1 + self.below(magnitudes) as u32;
            (1 + self.below(10_usize.pow(digits))).to_string()
        };
        let [tokens, layers, d_model, vocabulary] = [size(9), size(3), size(6), size(7)];
        let [d, feed_forward] = [size(4), size(6)];
        let heads = 1 << self.below(8);
        let sharing = heads >> self.below(9);
        let mut empty = |text: String| if self.below(3) == 0 { String::new() } else { text };
        let [d, feed_forward, key_value_heads] =
            [empty(d), empty(feed_forward), empty(sharing.to_string())];
        let (matrices, bytes) = (["2", "3"][self.below(2)], ["1", "2", "4"][self.below(3)]);
        json!({
            "tokens": tokens, "layers": layers, "d_model": d_model, "heads": heads.to_string(),
            "d": d, "key_value_heads": key_value_heads, "feed_forward": feed_forward,
            "feed_forward_matrices": matrices, "vocabulary": vocabulary,
            "tied": self.below(2) == 0, "bytes": bytes,
            "gigaflops": 1 + self.below(100_000), "gigabytes": self.below(1000) as f64 / 8.0 + 0.1,
        })
    }

    /// A whole state. Some are large, some have nothing but ties.
    pub(crate) fn state(&mut self) -> Value {
        let length = 1 + self.below(12);
        let [wide, d, d_v] = [4, 3, 3].map(|usual| {
            let most = if self.below(8) == 0 { 8 } else { usual };
            1 + self.below(most)
        });
        let largest = [0, 1, 1, 2, 2, 5, 20, 1000][self.below(8)];
        let decimals = [0, 1, 1, 1, 2, 3][self.below(6)];
        let [x, w_q, w_k, w_v] =
            [(length, wide), (wide, d), (wide, d), (wide, d_v)].map(|(high, wide)| {
                let row = |random: &mut Random| -> Vec<String> {
                    (0..wide).map(|_| random.number(largest, decimals)).collect()
                };
                (0..high).map(|_| row(self)).collect::<Vec<_>>()
            });
        json!({
            "tokens": labels("t", length), "meanings": labels("m", wide),
            "matches": labels("q", d), "messages": labels("v", d_v),
            "x": x, "w_q": w_q, "w_k": w_k, "w_v": w_v,
            "mask": self.below(4) > 0, "scale": self.below(4) > 0,
        })
    }
}

impl Random {
    /// A whole state with a target.
    pub(crate) fn state_with_target(&mut self) -> Value {
        let mut state = self.state();
        let (largest, decimals) = ([1, 2, 1000][self.below(3)], self.below(4));
        let target: Vec<String> =
            list(&state["messages"]).iter().map(|_| self.number(largest, decimals)).collect();
        state["target"] = target.into();
        state
    }
}

fn labels(letter: &str, count: usize) -> Vec<String> {
    (0..count).map(|place| format!("{letter}{place}")).collect()
}

/// The matrices that have derivations.
pub(crate) const COMPUTED: [&str; 8] = ["Q", "K", "V", "S", "scaled", "masked", "A", "O"];

/// The matrices of the backward pass that have derivations.
pub(crate) const BACKWARD: [&str; 13] =
    ["L", "dO", "dA", "dV", "dmasked", "dscaled", "dS", "dQ", "dK", "dW_Q", "dW_K", "dW_V", "dX"];
