//! The weights that are kept: their scores, found heads, losses and abilities,
//! computed anew on texts that no training has seen. The book says the same.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use learning::patterns::{Abilities, Sample, Scores, abilities, found, scores};
use learning::reader::Reader;
use std::sync::LazyLock;

const KEPT: &[u8] = include_bytes!("../../../book/src/widgets/patterns.safetensors");

/// The kept model, and texts that nothing else measures with.
static READER: LazyLock<Reader> = LazyLock::new(|| Reader::new(KEPT).unwrap());
static SAMPLE: LazyLock<Sample> = LazyLock::new(|| Sample::unseen(77, 48));
static SCORES: LazyLock<ndarray::Array2<Scores>> =
    LazyLock::new(|| scores(READER.model(), &SAMPLE).unwrap());

fn without(off: &[(usize, usize)]) -> Abilities {
    abilities(READER.model(), &SAMPLE, off).unwrap()
}

/// The head that has the highest score, and the score.
fn best(kind: fn(&Scores) -> f64) -> ((usize, usize), f64) {
    let head = found(&SCORES, kind);
    (head, kind(&SCORES[head]))
}

#[test]
fn the_file_is_small_and_says_how_it_was_made() {
    assert!(KEPT.len() < 1 << 20, "{} bytes", KEPT.len());
    let made = READER.made();
    assert!(made.command.starts_with("cargo run --release -p learning --example train -- "));
    assert!(made.command.contains(&format!("--seed {} --steps {}", made.seed, made.steps)));
}

#[test]
fn for_each_pattern_a_head_is_found() {
    for (pattern, kind) in [
        ("previous", (|head| head.previous) as fn(&Scores) -> f64),
        ("induction", |head| head.induction),
        ("subject", |head| head.subject),
    ] {
        let (head, score) = best(kind);
        assert!(score > 0.8, "{pattern}: {head:?} has {score}");
    }
    let (head, _) = best(|head| head.subject);
    assert!(SCORES[head].distractors < 0.1, "{:?}", SCORES[head]);
}

#[test]
fn the_loss_is_the_one_that_the_file_tells() {
    let loss = without(&[]).loss();
    assert!((loss - READER.made().loss).abs() < 0.05, "{loss} {}", READER.made().loss);
}

#[test]
fn the_model_agrees_and_copies() {
    let all = without(&[]);
    assert!(all.agreement > 0.99 && all.copying > 0.95, "{all:?}");
}

#[test]
fn without_the_subject_head_it_loses_agreement_and_still_copies() {
    let (all, off) = (without(&[]), without(&[best(|head| head.subject).0]));
    assert!(off.agreement < 0.75, "{off:?}");
    assert!(off.copying > all.copying - 0.05, "{off:?}");
}

#[test]
fn without_the_head_of_either_half_of_induction_it_cannot_copy_and_still_agrees() {
    let all = without(&[]);
    for kind in [(|head| head.induction) as fn(&Scores) -> f64, |head| head.previous] {
        let off = without(&[best(kind).0]);
        assert!(off.copying < 0.5, "{off:?}");
        assert!(off.agreement > all.agreement - 0.05, "{off:?}");
    }
}
