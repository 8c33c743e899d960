//! The book itself, held against what was last blessed: what `cargo book test`
//! checks, as part of `cargo test`.

use std::path::Path;

use weave::Project;

fn project() -> Project {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    Project::open(&root).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Values are as locked, claims hold, programs print what their chapters show,
/// and every page renders without fault.
#[test]
fn the_book_is_as_it_was_blessed() {
    let tested = weave::test(&project(), &worked::ledger());
    let tested = tested.unwrap_or_else(|problems| panic!("the book has problems:\n{problems}"));
    assert_eq!(tested.values, worked::ledger().entries().count());
    assert!(tested.claims > 0 && tested.snippets > 0 && tested.pages > 0, "{tested:?}");
}

/// A value that changes is told with its place in the lock, its old and new
/// form, its maker, and the lines that quote it.
#[test]
fn a_changed_digit_is_told_readably() {
    let mut ledger = worked::ledger();
    ledger.enter("qkv.the.attends.cat", other_weight).about("how much “the” attends to “cat”");
    let faults = weave::test(&project(), &ledger).expect_err("a digit was changed").to_string();
    for part in [
        "book/values.lock:",
        "`qkv.the.attends.cat` is not what the lock remembers",
        "- 0.52",
        "+ 0.53",
        "quoted at book/src/attention/queries-keys-values.md:",
    ] {
        assert!(faults.contains(part), "{part}\nis not in\n{faults}");
    }
}

fn other_weight() -> f64 {
    0.53
}
