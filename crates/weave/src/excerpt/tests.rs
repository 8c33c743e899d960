//! Items are found, cut out, linked and followed in two small crates, `maths`
//! and `pages-of-it`, that are written to a folder for each test.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

const MATHS: &[(&str, &str)] = &[
    ("maths/Cargo.toml", "[package]\nname = \"maths\"\n"),
    (
        "maths/src/lib.rs",
        "//! Sums.\n\npub mod head;\nmod hidden;\npub mod softmax;\n\
         pub use hidden::{Error, inner::Deep as Renamed};\npub use head::*;\n\
         pub use softmax::softmax;\npub use nowhere::*;\npub mod prelude { pub use super::*; }\n\
         mod a { pub use super::b::round; } mod b { pub use super::a::round; }\n\
         pub use a::round;\n\n#[cfg(test)]\nmod tests;\n",
    ),
    (
        "maths/src/head.rs",
        r##"use crate::softmax::softmax as soft;

/// A head.
///
/// More of it.
#[derive(Clone, Debug)]
#[must_use]
pub struct Head {
    /// Its width.
    width: usize,
}

impl Head {
    /// How many.
    pub const MANY: usize = 4;

    /// A new one.
    #[must_use]
    pub fn new(width: usize) -> Self {
        // A comment that stays.
        let text = "a
    b";
        assert!(soft(width) > 0, "{text}");

        Self { width }
    }

    fn secret(&self) {}
}

impl Default for Head {
    fn default() -> Self {
        Head::new(1)
    }
}

pub fn one_line() {}

pub trait Attend {
    fn attend(&self);

    fn twice(&self) {
        self.attend();
    }
}
"##,
    ),
    (
        "maths/src/softmax.rs",
        "pub fn softmax(x: usize) -> usize {\n    x\n}\n\npub fn scores() {}\n",
    ),
    (
        "maths/src/hidden/mod.rs",
        "pub mod inner;\npub enum Error {\n    One,\n}\nfn alone() {}\n\
         #[macro_export]\nmacro_rules! shout { () => {} }\n",
    ),
    ("maths/src/hidden/inner.rs", "pub struct Deep;\nimpl Deep {\n    pub fn dig(self) {}\n}\n"),
    (
        "maths/src/tests.rs",
        "#[test]\nfn one() {}\n#[tokio::test]\nasync fn two() {}\n#[cfg(test)]\nfn no() {}\n",
    ),
    (
        "maths/tests/laws.rs",
        "mod common;\nproptest! {\n    #![config(x)]\n    #[test]\n    fn three(x in 0..1) {}\n    \
         fn helper() {}\n}\n#[test]\nfn four() { let it = test(); }\n",
    ),
    ("maths/tests/common/mod.rs", "#[test]\nfn five() {}\n"),
];

const PAGES: &[(&str, &str)] = &[
    ("pages/Cargo.toml", "[package]\nname = \"pages-of-it\"\n[lib]\npath = \"main/it.rs\"\n"),
    (
        "pages/main/it.rs",
        r#"
#[path = "toy_head.rs"]
pub mod toy;
use maths::{self as m, head::{Head, Attend as _}, softmax::{self, softmax as soften}};

pub fn direct() -> usize {
    let softmax = soften(1);
    let scores = softmax;
    scores
}
pub fn through() { let scores = 1; helper(scores); around() }
fn helper(x: usize) { softmax::scores(); around(); unknown(); }
fn around() { through() }
pub fn shadowed(soften: usize) -> usize { if let Some(Head) = x { Head } else { soften } }
pub fn in_macro() { assert_eq!(m::head::one_line(), Head::new(2), "{}", 1) }
pub fn by_value() { [1].map(soften); use maths::Renamed as Local; Local::dig(Local) }
pub fn by_method() { toy::Toy::made() }
pub fn literal() { m::Head { width: 2 }; m::Error::One }
pub const CONSTANT: usize = soften(2);
pub fn of_constant() -> usize { CONSTANT }
"#,
    ),
    (
        "pages/main/toy_head.rs",
        "use super::*;\npub struct Toy;\nimpl Toy {\n    pub fn made() { Self::inner() }\n    \
         fn inner() { Toy::go(&Toy) }\n    fn go(&self) { self.last() }\n    \
         fn last(&self) { soften(3); }\n}\n",
    ),
];

fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn crates() -> Crates {
    let files: Vec<_> = MATHS.iter().chain(PAGES).copied().collect();
    let folder = folder_with(&files);
    Crates::open(folder.path(), &["maths".into(), "pages".into()]).unwrap()
}

#[test]
fn a_function_is_cut_out_with_its_lines() {
    let item = crates().item("maths::softmax::softmax").unwrap();
    assert_eq!(item.kind, Kind::Function);
    assert_eq!(item.file, Path::new("maths/src/softmax.rs"));
    assert_eq!((item.first_line, item.last_line), (1, 3));
    assert_eq!(item.code, "pub fn softmax(x: usize) -> usize {\n    x\n}");
}

#[test]
fn documentation_and_attributes_are_left_out_but_derives_stay() {
    let item = crates().item("maths::head::Head").unwrap();
    assert_eq!(
        item.code,
        "#[derive(Clone, Debug)]\npub struct Head {\n    /// Its width.\n    width: usize,\n}"
    );
    assert_eq!((item.first_line, item.last_line), (6, 11));
}

#[test]
fn a_method_is_dedented_but_for_the_inside_of_a_string() {
    let item = crates().item("maths::head::Head::new").unwrap();
    assert_eq!(item.kind, Kind::Method);
    assert_eq!((item.first_line, item.last_line), (19, 26));
    assert_eq!(
        item.code,
        "pub fn new(width: usize) -> Self {\n    // A comment that stays.\n    let text = \"a\n    \
         b\";\n    assert!(soft(width) > 0, \"{text}\");\n\n    Self { width }\n}"
    );
}

#[test]
fn items_are_found_through_re_exports() {
    let crates = crates();
    let defined = |path: &str| {
        let item = crates.item(path).unwrap();
        (item.file.to_str().unwrap().to_owned(), item.first_line)
    };
    let softmax = ("maths/src/softmax.rs".to_owned(), 1);
    assert_eq!(defined("maths::softmax"), softmax, "the function, not the module");
    assert_eq!(defined("maths::softmax::softmax"), softmax);
    assert_eq!(defined("maths::prelude::softmax"), softmax);
    assert_eq!(defined("maths::Head::new").1, 19, "through a glob");
    assert_eq!(defined("maths::Renamed::dig").0, "maths/src/hidden/inner.rs");
    assert_eq!(defined("maths::hidden::Error"), ("maths/src/hidden/mod.rs".to_owned(), 2));
    assert_eq!(defined("pages_of_it::toy::Toy").0, "pages/main/toy_head.rs");
}

#[test]
fn pages_lie_where_rustdoc_puts_them() {
    let crates = crates();
    let page = |path: &str| crates.item(path).unwrap().api_page().map(str::to_owned);
    for (path, expected) in [
        ("maths", "maths/index.html"),
        ("maths::softmax::softmax", "maths/softmax/fn.softmax.html"),
        ("maths::head::Head", "maths/head/struct.Head.html"),
        ("maths::Head::new", "maths/head/struct.Head.html#method.new"),
        ("maths::Head::default", "maths/head/struct.Head.html#method.default"),
        ("maths::Head::MANY", "maths/head/struct.Head.html#associatedconstant.MANY"),
        ("maths::head::Attend", "maths/head/trait.Attend.html"),
        ("maths::head::Attend::attend", "maths/head/trait.Attend.html#tymethod.attend"),
        ("maths::head::Attend::twice", "maths/head/trait.Attend.html#method.twice"),
        ("maths::hidden::Error", "maths/enum.Error.html"),
        ("maths::hidden::inner::Deep::dig", "maths/struct.Renamed.html#method.dig"),
        ("maths::shout", "maths/macro.shout.html"),
        ("pages_of_it::CONSTANT", "pages_of_it/constant.CONSTANT.html"),
    ] {
        assert_eq!(page(path).as_deref(), Some(expected), "{path}");
    }
    assert_eq!(page("maths::hidden::alone"), None, "a private item has no page");
    assert_eq!(page("maths::Head::secret"), None);

    let source = |path: &str| crates.item(path).unwrap().source_page().to_owned();
    assert_eq!(source("maths::Head::new"), "src/maths/head.rs.html#19-26");
    assert_eq!(source("maths::head::one_line"), "src/maths/head.rs.html#37");
    assert_eq!(source("pages_of_it::toy::Toy"), "src/pages_of_it/toy_head.rs.html#2");
}

#[test]
fn a_missing_item_is_told_with_the_closest_sibling() {
    let crates = crates();
    let error = |path: &str| crates.item(path).unwrap_err();
    assert_eq!(
        error("maths::softmax::scroes").to_string(),
        "no item `maths::softmax::scroes`; did you mean `scores`?"
    );
    assert_eq!(error("maths::softmax::scroes").found, "maths::softmax");
    assert_eq!(
        error("maths::head::Head::mew").hint(),
        "did you mean `new`?",
        "methods are siblings too"
    );
    assert_eq!(error("maths::Haed").hint(), "did you mean `Head`?", "also through a glob");
    assert_eq!(error("math::softmax").hint(), "did you mean `maths`?");
    assert_eq!(error("numpy::softmax").hint(), "no crate `numpy` is known to the book");
    assert_eq!(error("maths::softmax::zzz").hint(), "`maths::softmax` has no `zzz`");
    assert_eq!(error("maths::softmax::softmax::x").found, "maths::softmax::softmax");
    assert_eq!(error("maths::round").missing, "round", "re-exports that go round in a circle");
    assert!(crates.item("maths::head::soft").is_err(), "a private import is no item");
    assert!(crates.item("").is_err());
}

#[test]
fn uses_are_followed_through_the_functions_of_the_crate() {
    let crates = crates();
    let uses = |name: &str| crates.uses_of(&format!("pages_of_it::{name}"), &["maths"]);
    assert_eq!(uses("direct"), ["maths::softmax::softmax"], "locals are not items");
    assert_eq!(uses("through"), ["maths::softmax::scores"]);
    assert_eq!(uses("shadowed"), [""; 0]);
    assert_eq!(uses("in_macro"), ["maths::head::Head", "maths::head::one_line"]);
    assert_eq!(uses("by_value"), ["maths::Renamed", "maths::softmax::softmax"]);
    assert_eq!(uses("by_method"), ["maths::softmax::softmax"]);
    assert_eq!(uses("literal"), ["maths::Error", "maths::head::Head"]);
    assert_eq!(uses("of_constant"), ["maths::softmax::softmax"]);
    assert_eq!(uses("nothing"), [""; 0]);
    assert_eq!(crates.uses_of("pages_of_it::direct", &["std"]), [""; 0]);
}

#[test]
fn tests_are_counted_in_sources_and_tests() {
    assert_eq!(crates().count_tests(), 5);
}

#[test]
fn what_cannot_be_read_is_told_together() {
    let folder = folder_with(&[
        ("a/Cargo.toml", "[package]\nname = \"a\"\n"),
        ("a/src/lib.rs", "mod good;\n\nmod gone;\nmod bad;\n"),
        ("a/src/good.rs", ""),
        ("a/src/bad.rs", "fn f() {\n    let = ;\n}\n"),
        ("b/Cargo.toml", "[package]\n\nname = 3\n"),
        ("c/Cargo.toml", "[package]\nname = \"c\"\n"),
    ]);
    fs::write(folder.path().join("a/src/good.rs"), b"\xff").unwrap();
    let folders: Vec<PathBuf> = ["a", "b", "c", "d"].map(PathBuf::from).into();
    let problems = Crates::open(folder.path(), &folders).unwrap_err().to_string();
    let starts = |line: &str| problems.lines().any(|each| each.starts_with(line));
    for line in [
        "a/src/bad.rs:2: cannot parse the file: ",
        "a/src/lib.rs:1: `mod good;` names a file that cannot be read",
        "a/src/lib.rs:3: `mod gone;` names a file that cannot be read; it should lie at a/src/gone.rs",
        "b/Cargo.toml:3: ",
        "c/Cargo.toml: the crate has no source; write its `src/lib.rs`",
        "d/Cargo.toml: no such file",
    ] {
        assert!(starts(line), "{line}\n{problems}");
    }
    assert_eq!(problems.lines().count(), 6, "{problems}");
}
