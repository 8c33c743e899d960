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
    let tested = weave::test(&project(), &explorer::ledger());
    let tested = tested.unwrap_or_else(|problems| panic!("the book has problems:\n{problems}"));
    assert_eq!(tested.values, explorer::ledger().entries().count());
    assert!(tested.claims > 0 && tested.snippets > 0 && tested.pages > 0, "{tested:?}");
}
