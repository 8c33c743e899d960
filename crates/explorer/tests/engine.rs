//! The engines that readers download answer as the native code does, to the
//! letter: each runs in an interpreter and is asked the same as
//! `explorer::answer`. Nonsense never makes one trap.

mod common;

use common::{BACKWARD, COMPUTED, Random, backward_preset, list, preset, text};
use serde_json::{Value, json};
use wasmi::{Engine, Instance, Linker, Memory, Module, Store, TypedFunc};

/// The engines, as the book keeps them.
const ENGINES: [&str; 3] = ["head", "models", "reader"];

/// The weights beside them.
const KEPT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src/widgets/patterns.safetensors");

/// The code of an engine.
fn code(engine: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src/widgets");
    std::fs::read(format!("{folder}/{engine}.wasm")).expect("it is in the repository")
}

/// An engine, running.
struct Running {
    store: Store<()>,
    memory: Memory,
    prepare: TypedFunc<u32, u32>,
    answer: TypedFunc<(), u32>,
    length: TypedFunc<(), u32>,
    weights: Option<TypedFunc<(), u32>>,
}

impl Running {
    fn start(engine: &str) -> Running {
        let code = code(engine);
        let engine = Engine::default();
        let module = Module::new(&engine, &code).expect("it is WebAssembly");
        let mut store = Store::new(&engine, ());
        // It imports nothing: it can reach nothing of the page.
        let linker = Linker::new(&engine);
        let instance = linker.instantiate_and_start(&mut store, &module).expect("it starts");
        Running {
            memory: instance.get_memory(&store, "memory").expect("memory"),
            prepare: function(&instance, &store, "prepare"),
            answer: function(&instance, &store, "answer"),
            length: function(&instance, &store, "length"),
            weights: instance.get_typed_func(&store, "weights").ok(),
            store,
        }
    }

    fn ask(&mut self, request: &str) -> String {
        self.ask_bytes(request.as_bytes()).expect("it is short enough")
    }

    /// None where the request is too long for the engine.
    fn ask_bytes(&mut self, request: &[u8]) -> Option<String> {
        self.exchange(request, self.answer)
    }

    /// Hands over a file of weights.
    fn keep(&mut self, weights: &[u8]) -> String {
        let take = self.weights.expect("it takes weights");
        self.exchange(weights, take).expect("it is short enough")
    }

    /// Writes bytes, calls a function, and reads what it made of them.
    fn exchange(&mut self, request: &[u8], call: TypedFunc<(), u32>) -> Option<String> {
        let store = &mut self.store;
        let place = self.prepare.call(&mut *store, request.len() as u32).expect("no trap");
        if place == 0 {
            return None;
        }
        self.memory.write(&mut *store, place as usize, request).expect("there is room");
        let start = call.call(&mut *store, ()).expect("no trap");
        let mut answer = vec![0; self.length.call(&mut *store, ()).expect("no trap") as usize];
        self.memory.read(&*store, start as usize, &mut answer).expect("it is there");
        Some(String::from_utf8(answer).expect("it is UTF-8"))
    }

    /// Asks both, and demands the same answer.
    fn compare(&mut self, request: &Value) -> String {
        let request = request.to_string();
        let native = explorer::answer(&request);
        assert_eq!(self.ask(&request), native, "{request}");
        native
    }
}

fn function<P: wasmi::WasmParams, R: wasmi::WasmResults>(
    instance: &Instance,
    store: &Store<()>,
    name: &str,
) -> TypedFunc<P, R> {
    instance.get_typed_func(store, name).expect("it is exported")
}

/// Compares a head, and some of its derivations.
fn compare_head(running: &mut Running, random: &mut Random, state: &Value) {
    let answer = running.compare(&json!({"ask": "head", "state": state}));
    assert!(answer.starts_with("{\"matrices\":[{"), "{answer}");
    let [tokens, matches, messages] =
        ["tokens", "matches", "messages"].map(|name| list(&state[name]).len());
    for _ in 0..2 {
        let matrix = COMPUTED[random.below(COMPUTED.len())];
        let columns = match matrix {
            "Q" | "K" => matches,
            "V" | "O" => messages,
            _ => tokens,
        };
        let (row, column) = (random.below(tokens), random.below(columns));
        let answer = running.compare(&json!({
            "ask": "cell", "state": state, "matrix": matrix, "row": row, "column": column
        }));
        assert!(answer.starts_with("{\"matrix\":"), "{answer}");
    }
}

fn compare_heads(seed: u64, count: usize) {
    let mut running = Running::start("head");
    let mut random = Random::new(seed);
    for _ in 0..count {
        let state = random.state();
        compare_head(&mut running, &mut random, &state);
    }
}

/// Compares a head with a target, and some derivations of its backward pass.
fn compare_backward(running: &mut Running, random: &mut Random, state: &Value) {
    let answer = running.compare(&json!({"ask": "head", "state": state}));
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    for _ in 0..3 {
        let matrix = BACKWARD[random.below(BACKWARD.len())];
        let numbers = list(&common::matrix(&answer, matrix)["exact"]);
        let (row, column) = (random.below(numbers.len()), random.below(list(&numbers[0]).len()));
        let answer = running.compare(&json!({
            "ask": "cell", "state": state, "matrix": matrix, "row": row, "column": column
        }));
        assert!(answer.starts_with("{\"matrix\":"), "{answer}");
    }
}

// Two tests of 512 heads, so that they run beside each other.

#[test]
fn engine_and_native_code_agree_on_512_random_heads() {
    compare_heads(1, 512);
}

#[test]
fn engine_and_native_code_agree_on_512_more() {
    compare_heads(2, 512);
}

#[test]
fn engine_and_native_code_agree_on_256_random_heads_with_targets() {
    let mut running = Running::start("head");
    let mut random = Random::new(19);
    for _ in 0..256 {
        let state = random.state_with_target();
        compare_backward(&mut running, &mut random, &state);
    }
    for name in ["toy", "wrong", "fresh"] {
        compare_backward(&mut running, &mut random, &backward_preset(name));
    }
}

#[test]
fn engine_and_native_code_agree_on_everything_else() {
    let mut running = Running::start("head");
    let mut random = Random::new(5);
    for name in ["toy", "previous", "same", "uniform"] {
        compare_head(&mut running, &mut random, &preset(name));
    }
    for text in ["0.1", "−.5", "1e3", "", "cat", "NaN", "1e308", "0,5", "\u{1f408}\u{0}\"\\", "½"]
    {
        running.compare(&json!({"ask": "number", "text": text}));
        running.compare(&json!({"ask": "step", "text": text, "by": -3}));
    }
    let toy = preset("toy");
    for change in
        [json!({"add": {"after": 2}}), json!({"remove": 0}), json!({"rename": 1, "to": "猫"})]
    {
        let answer = running.compare(&json!({"ask": "token", "state": toy, "change": change}));
        assert!(answer.starts_with("{\"state\":"), "{answer}");
    }
    let data = explorer::widgets::soft_lookup().unwrap().data;
    let mut state = serde_json::from_str::<Value>(&data).unwrap()["state"].clone();
    for place in [0, 1, 250, 499, 500, 700, 999, 1000] {
        state["temperature"] = place.into();
        let answer = running.compare(&json!({"ask": "lookup", "state": state}));
        assert!(answer.starts_with("{\"temperature\":"), "{answer}");
        let (x, y) = (random.below(1001) as f64 / 1000.0, random.below(1001) as f64 / 1000.0);
        let point = running.compare(&json!({"ask": "point", "x": x, "y": y}));
        state["query"] = serde_json::from_str::<Value>(&point).unwrap()["query"].clone();
        running.compare(&json!({"ask": "nudge", "query": state["query"], "x": 3, "y": -2}));
    }
}

#[test]
fn engine_and_native_code_agree_on_512_random_costs() {
    let mut running = Running::start("models");
    let mut random = Random::new(7);
    let (mut counted, mut refused) = (0, 0);
    for _ in 0..512 {
        let state = random.cost_state();
        let answer = running.compare(&json!({"ask": "cost", "state": state}));
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        assert_ne!(list(&answer["tables"]).is_empty(), list(&answer["problems"]).is_empty());
        *if list(&answer["problems"]).is_empty() { &mut counted } else { &mut refused } += 1;
        let times = random.below(41) as i64 - 20;
        running.compare(&json!({"ask": "double", "text": state["tokens"], "times": times}));
    }
    assert!(counted > 50 && refused > 50, "{counted} counted, {refused} refused");
}

/// Forwards and back again, for the engine keeps a run to go on from.
#[test]
fn engine_and_native_code_learn_alike() {
    let mut running = Running::start("models");
    for (task, seed, rate, steps) in [
        ("noun", "7", "1", 3),
        ("noun", "7", "1", 12),
        ("noun", "7", "1", 0),
        ("previous", "7", "1", 8),
        ("previous", "999999999", "0.5", 8),
        ("noun", "1", "1000", 5),
        ("noun", "x", "-1", 5),
    ] {
        let request = json!({
            "ask": "train", "task": task, "seed": seed, "rate": rate, "steps": steps
        });
        running.compare(&request);
    }
}

#[test]
fn engine_and_native_code_read_alike() {
    let weights = std::fs::read(KEPT).expect("it is in the repository");
    let mut running = Running::start("reader");
    let cut_off = &weights[..weights.len() - 1];
    assert_eq!(running.keep(cut_off), explorer::keep_weights(cut_off));
    assert_eq!(running.keep(&weights), explorer::keep_weights(&weights));
    for (words, off) in [
        ("the birds near the old cat", json!([])),
        ("king often old dogs king often old", json!([[0, 3], [1, 0]])),
        (&*"fox ".repeat(31), json!([[1, 1]])),
        ("the catz", json!([])),
        ("", json!([])),
    ] {
        running.compare(&json!({"ask": "read", "words": words, "off": off}));
    }
}

#[test]
fn nonsense_is_answered_with_an_error() {
    let mut random = Random::new(11);
    let head = json!({"ask": "head", "state": preset("toy")});
    talk_nonsense("head", &mut random, &head);
    let cost = json!({"ask": "cost", "state": random.cost_state()});
    talk_nonsense("models", &mut random, &cost);
    let read = json!({"ask": "read", "words": "the old cats", "off": [[1, 0]]});
    talk_nonsense("reader", &mut random, &read);
}

/// Sends an engine what is no request, and what was one before it was damaged.
fn talk_nonsense(engine: &str, random: &mut Random, sound: &Value) {
    let mut running = Running::start(engine);
    let sound = sound.to_string().into_bytes();
    let mut nonsense: Vec<Vec<u8>> = ["", "{}", "null", "[[[[", "{\"ask\":\"head\"}", "\u{feff}{}"]
        .map(|text| text.as_bytes().to_vec())
        .into();
    nonsense.push(vec![b'['; 200_000]);
    nonsense.push(vec![0xff; 100]);
    // A request cut short anywhere.
    nonsense.extend((0..100).map(|_| sound[..random.below(sound.len())].to_vec()));
    for request in nonsense {
        let answer = running.ask_bytes(&request).expect("it is short enough");
        let answer: Value = serde_json::from_str(&answer).expect("it is JSON");
        assert!(text(&answer["error"]).ends_with('.'), "{answer}");
    }
    // And with a byte of it changed, which may well leave it readable.
    for _ in 0..300 {
        let mut request = sound.clone();
        let place = random.below(request.len());
        request[place] = random.below(256) as u8;
        let answer = running.ask_bytes(&request).expect("it is short enough");
        assert_eq!(answer, explorer::answer(&String::from_utf8_lossy(&request)));
    }
    assert_eq!(running.ask_bytes(&vec![b' '; (1 << 18) + 1]), None, "it is too long");
    let sound = String::from_utf8(sound).expect("it was a text");
    assert_eq!(running.ask(&sound), explorer::answer(&sound), "it goes on working");
}

/// They can reach nothing of the page, and tell nothing of where they were built.
#[test]
fn the_engines_import_nothing_and_name_no_folder() {
    for engine in ENGINES {
        let code = code(engine);
        let module = Module::new(&Engine::default(), &code).unwrap();
        assert_eq!(module.imports().count(), 0);
        for folder in ["/home", "/root", "/tmp", "/Users", env!("CARGO_MANIFEST_DIR")] {
            let found = code.windows(folder.len()).any(|window| window == folder.as_bytes());
            assert!(!found, "{engine}.wasm contains `{folder}`: build it with `cargo book wasm`");
        }
    }
}

/// Each has its own part, and says so where it is asked for another's.
#[test]
fn an_engine_holds_its_part_and_no_other() {
    let requests = [
        json!({"ask": "head", "state": preset("toy")}),
        json!({"ask": "cost", "state": Random::new(1).cost_state()}),
        json!({"ask": "read", "words": "the cat", "off": []}),
    ];
    for engine in ENGINES {
        let mut running = Running::start(engine);
        for (own, request) in ENGINES.iter().zip(&requests) {
            let answer = running.ask(&request.to_string());
            let foreign = answer.starts_with("{\"error\":\"There is no such request");
            assert_eq!(foreign, *own != engine, "{answer}");
        }
    }
}
