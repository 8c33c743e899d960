//! The weights that are kept: their scores, found heads, losses and abilities,
//! computed anew on texts that no training has seen. The book says the same.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use learning::patterns::{Abilities, Sample, Scores, abilities, found, scores};
use learning::reader::Reader;
use std::sync::LazyLock;

const KEPT: &[u8] = include_bytes!("../../../book/src/widgets/patterns.safetensors");

/// The kept model, and texts that nothing else measures with.
static READER: LazyLock<Reader> = LazyLock::new(|| Reader::from_bytes(KEPT).unwrap());
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
    assert!(all.agreement > 0.99 && all.copying > 0.99, "{all:?}");
}

/// A pattern, the ability that needs its head, and how little may be left of it.
fn hurts(kind: fn(&Scores) -> f64, ability: fn(&Abilities) -> f64, left: f64) {
    let (all, off) = (without(&[]), without(&[best(kind).0]));
    assert!(ability(&off) < left, "{off:?}");
    let abilities: [fn(&Abilities) -> f64; 2] = [|of| of.copying, |of| of.agreement];
    let others = abilities.into_iter().filter(|other| other(&off) > other(&all) - 0.05);
    assert_eq!(others.count(), 1, "the other ability stays as it is: {off:?}");
}

#[test]
fn without_the_previous_token_head_it_cannot_copy_and_still_agrees() {
    hurts(|head| head.previous, |of| of.copying, 0.3);
}

#[test]
fn without_the_induction_head_it_copies_less_and_still_agrees() {
    hurts(|head| head.induction, |of| of.copying, 0.85);
}

#[test]
fn without_the_subject_head_it_loses_agreement_and_still_copies() {
    hurts(|head| head.subject, |of| of.agreement, 0.65);
}

/// A key that says which word came before takes a layer before it.
#[test]
fn the_previous_token_head_comes_first() {
    let kinds: [fn(&Scores) -> f64; 3] =
        [|head| head.previous, |head| head.induction, |head| head.subject];
    let found = kinds.map(|kind| best(kind).0);
    assert!(found[0].0 == 0 && found[1].0 == 1 && found[2].0 == 1, "{found:?}");
    assert!(found[1] != found[2]);
}
