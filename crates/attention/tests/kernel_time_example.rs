//! The examples `time` and `ladder` as their user meets them: what they print,
//! and what they say to wrong arguments. How fast they are is not tested.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use attention::heads;
use std::process::{Command, Output};

/// Runs an example, which cargo builds for `cargo test`, next to the tests.
fn run(example: &str, arguments: &str) -> Output {
    let test = std::env::current_exe().unwrap();
    let name = format!("{example}{}", std::env::consts::EXE_SUFFIX);
    let program = test.parent().unwrap().parent().unwrap().join("examples").join(name);
    assert!(program.is_file(), "run all of `cargo test -p attention`, which builds the examples");
    Command::new(program).args(arguments.split_whitespace()).output().unwrap()
}

/// What an example prints when all is well.
fn printed(example: &str, arguments: &str) -> String {
    let output = run(example, arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The value of a key in a flat line of JSON.
fn field<'a>(json: &'a str, key: &str) -> &'a str {
    let (_, rest) = json.split_once(&format!("\"{key}\": ")).expect(key);
    rest.split([',', '}']).next().unwrap()
}

#[test]
fn one_line_says_what_was_timed_and_how_long_it_took() {
    let json =
        printed("time", "--heads 3 --tokens 20 --keys 30 --dim 8 --causal --runs 4 --threads 2");
    assert_eq!(json.lines().count(), 1);
    let said = ["heads", "tokens", "keys", "dim", "causal", "dtype", "threads", "runs"]
        .map(|key| field(&json, key));
    assert_eq!(said, ["3", "20", "30", "8", "true", "\"f32\"", "2", "4"]);
    assert_eq!(field(&json, "instructions"), format!("\"{}\"", heads::instructions()));
    assert_eq!(field(&json, "path"), "\"tiles\"");
    // The open keys: 11 for the first of 20 queries, 30 for the last.
    let operations = 4.0 * 3.0 * 8.0 * f64::from((11..=30).sum::<i32>());
    let [ms, gflops] = ["median_ms", "gflops"].map(|key| field(&json, key).parse::<f64>().unwrap());
    assert!(ms > 0.0 && (gflops - operations / ms / 1e6).abs() <= 0.01 + 0.05 * gflops, "{json}");
}

#[test]
fn one_query_streams_and_instructions_can_be_chosen() {
    let arguments = "--heads 2 --tokens 1 --keys 9 --dim 4 --dtype f64 --instructions PORTABLE";
    let json = printed("time", arguments);
    assert_eq!(field(&json, "path"), "\"stream\"");
    assert_eq!(field(&json, "instructions"), "\"portable\"");
    assert_eq!(field(&json, "dtype"), "\"f64\"");
}

#[test]
fn the_ladder_has_a_line_for_each_version() {
    let lines = printed("ladder", "--tokens 30 --dim 8 --causal --runs 1");
    let versions: Vec<_> = lines.lines().map(|json| field(json, "version")).collect();
    let known: Vec<_> =
        attention::ladder::VERSIONS.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    assert_eq!(versions, known);
}

#[test]
fn wrong_arguments_are_named() {
    for (arguments, complaint) in [
        ("--heads 0", "'--heads <H>'"),
        ("--tokens many", "'--tokens <T>'"),
        ("--dtype f16", "'--dtype <DTYPE>'"),
        ("--runs 0", "'--runs <N>'"),
        ("--speed", "'--speed'"),
        ("--instructions MMX", "time: no instructions MMX here; there are: "),
        ("--heads 99999999 --tokens 99999999", "time: q of shape [99999999, 99999999, 64] "),
    ] {
        let output = run("time", arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(complaint) && output.stdout.is_empty(), "{message}");
    }
}
