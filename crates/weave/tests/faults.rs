//! Small books, each sound but for one fault: every fault must be found, with
//! its file and line and a remedy. The sound book itself must pass.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::fs;
use std::path::PathBuf;

use ledger::{Axis, Figure, Ledger, Plot, Series};
use ndarray::{Array2, array};
use tempfile::TempDir;
use weave::{BuildOptions, Problems, Project};

const CONFIG: &str = r#"[book]
title = "A small book"
description = "It says little, and all of it is checked."
src = "book/src"

[build]
build-dir = "target/book"
create-missing = false

[rust]
edition = "2024"

[preprocessor.weave]
before = ["links"]
crates = ["crates/greet"]
snippets = ["crates/greet"]

[preprocessor.katex]
after = ["links", "weave"]
output = "htmlAndMathml"
no-css = true

[output.html.playground]
runnable = false
"#;

const SUMMARY: &str = "\
# Summary

[Introduction](introduction.md)

- [Greetings](part/greetings.md)
- [Checked](appendix/checked.md)
";

const CHAPTER: &str = r#"# Greetings

The mean of the weights is {{value greet.mean}}, less than one.{{claim greet.small}}

{{matrix greet.weights}}
: The weights $A$, of mean {{value greet.mean}}

$$ A = \begin{bmatrix} {{tex greet.weights}} \end{bmatrix} $$

{{figure greet.curve}}

See [how it is checked](../appendix/checked.md#values).

{{source greet::hello}}

```rust
use greet::hello;

fn main() {
    println!("{}", hello("cat"));
}
```

```text,output
Hello, cat!
```
"#;

const CHECKED: &str = "\
# Checked

{{count values}} values, {{count claims}} claim, {{count snippets}} program.

## Values

{{checked values}}

## Claims

{{checked claims}}

## Programs

{{checked snippets}}
";

const GREET: &str = r#"//! Greets.

/// A greeting.
#[must_use]
pub fn hello(name: &str) -> String {
    format!("Hello, {name}!")
}
"#;

const GREET_MANIFEST: &str = r#"[package]
name = "greet"
version = "0.1.0"
edition = "2024"
"#;

fn weights() -> Array2<f64> {
    array![[0.25, 0.75], [1.0, 0.5]]
}
fn other_weights() -> Array2<f64> {
    array![[0.25, 0.75], [1.0, 0.374]]
}
fn mean() -> f64 {
    0.625
}
fn small() -> bool {
    mean() < 1.0
}
fn not_small() -> Result<(), String> {
    Err("the mean is 2".to_owned())
}
fn curve() -> Figure {
    Figure {
        description: "A line that rises.".to_owned(),
        plot: Plot::Lines {
            x: Axis::linear("time"),
            y: Axis::linear("height"),
            series: vec![Series { name: "line".to_owned(), points: vec![(0.0, 0.0), (1.0, 2.0)] }],
        },
    }
}

fn ledger() -> Ledger {
    ledger_of(weights)
}

fn ledger_of(weights: impl Fn() -> Array2<f64>) -> Ledger {
    let mut ledger = Ledger::new();
    ledger.enter("greet.weights", weights).symbol("A").about("the weights").rows(&["a", "b"]);
    ledger.enter("greet.mean", mean).digits(3).about("their mean");
    ledger.enter("greet.small", small).about("the mean is less than one");
    ledger.enter("greet.curve", curve);
    ledger
}

struct Book {
    folder: TempDir,
}

impl Book {
    /// A book without fault, blessed.
    fn sound() -> Book {
        let book = Book { folder: tempfile::tempdir().unwrap() };
        for (file, text) in [
            ("book.toml", CONFIG),
            ("book/src/SUMMARY.md", SUMMARY),
            ("book/src/introduction.md", "# Introduction\n\nA word before.\n"),
            ("book/src/part/greetings.md", CHAPTER),
            ("book/src/appendix/checked.md", CHECKED),
            ("crates/greet/Cargo.toml", GREET_MANIFEST),
            ("crates/greet/src/lib.rs", GREET),
        ] {
            book.write(file, text);
        }
        ledger::Lock::of(&ledger()).write(&book.path("book/values.lock")).unwrap();
        book
    }

    /// The sound book with one text of a file in place of another.
    fn but(file: &str, from: &str, to: &str) -> Book {
        let book = Book::sound();
        book.edit(file, from, to);
        book
    }

    fn edit(&self, file: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(file)).unwrap();
        assert_eq!(text.matches(from).count(), 1, "`{from}` must stand once in {file}");
        self.write(file, text.replace(from, to));
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn open(&self) -> Result<Project, Problems> {
        Ok(Project::open(self.folder.path())?.with_target(&self.path("target")))
    }

    /// What testing the book with a ledger finds.
    fn faults_with(&self, ledger: &Ledger) -> String {
        match self.open().and_then(|project| weave::test(&project, ledger)) {
            Ok(tested) => panic!("no fault was found: {tested:?}"),
            Err(problems) => problems.to_string(),
        }
    }

    fn faults(&self) -> String {
        self.faults_with(&ledger())
    }
}

/// The fault is told, at the beginning of a line, in these words.
#[track_caller]
fn assert_told(faults: &str, expected: &str) {
    assert!(
        faults.lines().any(|line| line.starts_with(expected)),
        "{expected}\nis not in\n{faults}"
    );
}

/// The fault is told, and nothing else.
#[track_caller]
fn assert_only(faults: &str, expected: &str) {
    assert_told(faults, expected);
    let others: Vec<_> = faults.lines().filter(|line| !line.starts_with("    ")).collect();
    assert_eq!(others.len(), 1, "{faults}");
}

const GREETINGS: &str = "book/src/part/greetings.md";

#[test]
fn the_sound_book_passes_and_builds() {
    let book = Book::sound();
    let project = book.open().unwrap();
    let tested = weave::test(&project, &ledger()).unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!((tested.values, tested.claims, tested.snippets), (4, 1, 1));
    let built = weave::build(&project, &ledger(), &BuildOptions::default()).unwrap();
    let page = fs::read_to_string(built.folder.join("part/greetings.html")).unwrap();
    for part in [
        r##"<a class="value" href="../appendix/checked.html#greet.mean" title="greet.mean">0.625</a>"##,
        r#"<th scope="row">a</th><td style="--shade:0.25">0.25</td>"#,
        "<svg",
        "Hello, {name}!",
        "<annotation encoding=\"application/x-tex\"> A = \\begin{bmatrix} 0.25 &amp; 0.75 \\\\ 1.00 &amp; 0.50 \\end{bmatrix} </annotation>",
    ] {
        assert!(page.contains(part), "{part}\nis not in\n{page}");
    }
    let checked = fs::read_to_string(built.folder.join("appendix/checked.html")).unwrap();
    for part in [r#"<tr id="greet.mean">"#, "4 values, 1 claim, 1 program.", "Greetings</a>"] {
        assert!(checked.contains(part), "{part}\nis not in\n{checked}");
    }
}

#[test]
fn unknown_value() {
    let book = Book::but(GREETINGS, "{{matrix greet.weights}}", "{{matrix greet.wieghts}}");
    assert_told(
        &book.faults(),
        "book/src/part/greetings.md:5: unknown value `greet.wieghts`; did you mean `greet.weights`?",
    );
}

#[test]
fn unused_value() {
    let book = Book::but(GREETINGS, "{{figure greet.curve}}\n", "");
    let faults = book.faults();
    assert!(faults.contains("faults.rs:"), "{faults}");
    assert!(faults.contains("no chapter quotes `greet.curve`"), "{faults}");
}

#[test]
fn false_claim() {
    let book = Book::sound();
    let mut ledger = ledger();
    ledger.enter("greet.false", not_small);
    book.edit(GREETINGS, "less than one.", "less than two.{{claim greet.false}}");
    let faults = book.faults_with(&ledger);
    assert_told(
        &faults,
        "book/src/part/greetings.md:3: `greet.false` does not hold: the mean is 2",
    );
}

#[test]
fn stale_lock() {
    let book = Book::sound();
    book.edit("book/values.lock", "0.625", "0.626");
    let faults = book.faults();
    assert_only(&faults, "book/values.lock:");
    for part in [
        "`greet.mean` is not what the lock remembers; if that is meant, run `cargo book bless`",
        "- 0.626",
        "+ 0.625",
        "quoted at book/src/part/greetings.md:3",
    ] {
        assert!(faults.contains(part), "{part}\nis not in\n{faults}");
    }
    let told_line: usize = faults.split(':').nth(1).unwrap().parse().unwrap();
    let lock = fs::read_to_string(book.path("book/values.lock")).unwrap();
    assert_eq!(lock.lines().nth(told_line - 1), Some("[\"greet.mean\"]"));
}

#[test]
fn changed_matrix_shows_the_row_that_changed() {
    let book = Book::sound();
    let faults = book.faults_with(&ledger_of(other_weights));
    for part in ["  a  0.25  0.75", "- b  1.00  0.50", "+ b  1.00  0.37"] {
        assert!(faults.contains(part), "{part}\nis not in\n{faults}");
    }
}

#[test]
fn unreadable_lock() {
    let book = Book::sound();
    book.write("book/values.lock", "[\"greet.mean\"]\nkind = \n");
    assert_told(&book.faults(), "book/values.lock:2: ");
}

#[test]
fn stale_output() {
    let book = Book::but(GREETINGS, "Hello, cat!\n", "Hello, dog!\n");
    let faults = book.faults();
    assert_only(&faults, "book/src/part/greetings.md:24: ");
    assert!(faults.contains("- Hello, dog!") && faults.contains("+ Hello, cat!"), "{faults}");
}

#[test]
fn program_that_does_not_compile() {
    let book = Book::but(GREETINGS, "hello(\"cat\")", "hello(1)");
    assert_only(&book.faults(), "book/src/part/greetings.md:20: ");
}

#[test]
fn program_that_panics() {
    let book = Book::but(GREETINGS, "println!(\"{}\", hello(\"cat\"));", "panic!(\"no cat\");");
    let faults = book.faults();
    assert_told(&faults, "book/src/part/greetings.md:20: ");
    assert!(faults.contains("no cat"), "{faults}");
}

#[test]
fn missing_excerpt() {
    let book = Book::but(GREETINGS, "{{source greet::hello}}", "{{source greet::helo}}");
    let faults = book.faults();
    assert_only(&faults, "book/src/part/greetings.md:14: ");
    assert!(
        faults.contains("`greet::helo`") && faults.contains("did you mean `hello`?"),
        "{faults}"
    );
}

#[test]
fn missing_include() {
    let book = Book::but(GREETINGS, "See [", "{{#include nothing.txt}}\n\nSee [");
    assert_told(
        &book.faults(),
        "book/src/part/greetings.md:12: `nothing.txt` cannot be included: ",
    );
}

#[test]
fn broken_tex() {
    let book = Book::but(GREETINGS, "$$ A = ", "$$ A = \\frac{1} ");
    assert_told(&book.faults(), "book/src/part/greetings.md:8: ");
}

#[test]
fn formula_that_is_not_closed() {
    let book = Book::but(GREETINGS, "See [", "The price is $ 5.\n\nSee [");
    assert_told(&book.faults(), "book/src/part/greetings.md:12: ");
}

#[test]
fn misspelt_katex_option() {
    let book = Book::but("book.toml", "no-css = true", "no-ccs = true");
    let faults = book.faults();
    assert_told(&faults, "book.toml:21: ");
    assert!(faults.contains("`no-ccs`") && faults.contains("`no-css`"), "{faults}");
}

#[test]
fn wrongly_typed_katex_option() {
    let book = Book::but("book.toml", "no-css = true", "no-css = \"yes\"");
    assert_told(&book.faults(), "book.toml:21: ");
}

#[test]
fn misspelt_weave_option() {
    let book = Book::but("book.toml", "snippets =", "snipets =");
    let faults = book.faults();
    assert_only(&faults, "book.toml:16: ");
    assert!(faults.contains("snipets"), "{faults}");
}

#[test]
fn typed_decimal() {
    let book = Book::but(GREETINGS, "less than one.", "less than 0.7.");
    assert_only(&book.faults(), "book/src/part/greetings.md:3: `0.7` is typed by hand; quote");
}

#[test]
fn broken_link_and_broken_anchor() {
    let book = Book::but(GREETINGS, "checked.md#values)", "checkd.md)");
    assert_told(&book.faults(), "book/src/part/greetings.md:12: ");
    let book = Book::but(GREETINGS, "checked.md#values)", "checked.md#valeus)");
    let faults = book.faults();
    assert_told(&faults, "book/src/part/greetings.md:12: ");
    assert!(faults.contains("values"), "{faults}");
}

#[test]
fn chapter_missing_from_the_table_of_contents() {
    let book = Book::sound();
    book.write("book/src/part/forgotten.md", "# Forgotten\n");
    assert_told(&book.faults(), "book/src/part/forgotten.md");
}

#[test]
fn chapter_missing_from_the_folder() {
    let book = Book::sound();
    fs::remove_file(book.path(GREETINGS)).unwrap();
    assert_only(
        &book.faults(),
        "book/src/SUMMARY.md:5: the chapter `part/greetings.md` does not exist; ",
    );
}

#[test]
fn chapter_that_is_not_utf8() {
    let book = Book::sound();
    book.write(GREETINGS, b"# Greetings\n\ncaf\xe9\n");
    assert_only(
        &book.faults(),
        "book/src/part/greetings.md:3: this line is not UTF-8; save the file as UTF-8",
    );
}

#[test]
fn chapter_that_is_a_folder() {
    let book = Book::sound();
    fs::remove_file(book.path(GREETINGS)).unwrap();
    fs::create_dir(book.path(GREETINGS)).unwrap();
    assert_only(&book.faults(), "book/src/part/greetings.md: cannot be read: ");
}

#[test]
fn build_folder_that_holds_the_chapters() {
    let book = Book::but("book.toml", "build-dir = \"target/book\"", "build-dir = \"book\"");
    assert_only(&book.faults(), "book.toml:7: the build would empty `book`");
    assert!(book.path(GREETINGS).exists());
}

#[test]
fn no_configuration() {
    let book = Book::sound();
    fs::remove_file(book.path("book.toml")).unwrap();
    assert_only(&book.faults(), "book.toml: there is no such file");
}

/// A target folder that cannot be written to: the old site stands, and nothing
/// half-made is left.
#[test]
fn unwritable_target() {
    let book = Book::sound();
    book.write("target", "a file where the folder should be");
    let project = book.open().unwrap();
    let faults =
        weave::build(&project, &ledger(), &BuildOptions::default()).unwrap_err().to_string();
    assert!(faults.contains("cannot be written"), "{faults}");
    assert!(faults.contains("see that the folder can be written to"), "{faults}");
}

#[test]
fn a_failed_build_leaves_the_old_site() {
    let book = Book::sound();
    let project = book.open().unwrap();
    weave::build(&project, &ledger(), &BuildOptions::default()).unwrap();
    let page = book.path("target/book/part/greetings.html");
    let before = fs::read_to_string(&page).unwrap();
    book.edit(GREETINGS, "# Greetings", "# Greetings 0.5");
    assert!(weave::build(&project, &ledger(), &BuildOptions::default()).is_err());
    assert_eq!(fs::read_to_string(&page).unwrap(), before);
    let left: Vec<_> = fs::read_dir(book.path("target"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with('.'))
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn several_faults_are_told_in_one_run() {
    let book = Book::but(GREETINGS, "less than one.", "less than 0.7 {{value greet.maen}}.");
    book.edit("book/src/appendix/checked.md", "{{count values}}", "{{count vowels}} 0.1");
    let faults = book.faults();
    for expected in [
        "book/src/appendix/checked.md:3: `0.1` is typed by hand",
        "book/src/appendix/checked.md:3: `vowels` is not counted",
        "book/src/part/greetings.md:3: `0.7` is typed by hand",
        "book/src/part/greetings.md:3: unknown value `greet.maen`; did you mean `greet.mean`?",
    ] {
        assert_told(&faults, expected);
    }
}

#[test]
fn blessing_accepts_values_and_outputs_and_then_the_book_passes() {
    let book = Book::but(GREETINGS, "Hello, cat!\n", "Hello, dog!\n");
    book.edit("book/values.lock", "0.625", "0.626");
    let project = book.open().unwrap();
    let blessed = weave::bless(&project, &ledger()).unwrap();
    assert_eq!(blessed.values, ["greet.mean"]);
    assert_eq!(blessed.chapters, [GREETINGS]);
    assert_eq!(fs::read_to_string(book.path(GREETINGS)).unwrap(), CHAPTER);
    weave::test(&project, &ledger()).unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(weave::bless(&project, &ledger()).unwrap(), weave::Blessed::default());
}

#[test]
fn blessing_a_book_with_faults_writes_nothing() {
    let book = Book::but(GREETINGS, "hello(\"cat\")", "hello(1)");
    let lock = fs::read(book.path("book/values.lock")).unwrap();
    let mut ledger = ledger();
    ledger.enter("greet.mean", small);
    let project = book.open().unwrap();
    assert!(weave::bless(&project, &ledger).is_err());
    assert_eq!(fs::read(book.path("book/values.lock")).unwrap(), lock);
}

#[test]
fn preprocessors_know_their_renderers_and_refuse_what_is_no_book() {
    assert!(weave::supports("weave", "html") && weave::supports("weave", "test"));
    assert!(weave::supports("katex", "html") && !weave::supports("katex", "test"));
    assert!(!weave::supports("other", "html"));
    let error = weave::preprocess("weave", &ledger(), &b"not a book"[..], Vec::new()).unwrap_err();
    assert!(error.to_string().contains("input"), "{error}");
}
