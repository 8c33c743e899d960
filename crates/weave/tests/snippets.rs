//! Chapters with right and wrong snippets are compiled and run for real. All
//! tests share one folder for the compiled program, as the runs of a book do.

use std::path::{Path, PathBuf};
use std::time::Duration;

use weave::snippet::{Ran, Runner, blessed, snippets, with_extern_crates};
use weave::{Chapter, Problems};

fn runner() -> Runner {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    Runner {
        folder: Path::new(env!("CARGO_TARGET_TMPDIR")).join("snippets"),
        crates: vec![("greet".to_owned(), "greet".into())],
        lock: root.join("Cargo.lock"),
        root,
        timeout: Duration::from_secs(10),
    }
}

fn chapter(path: &str, text: &str) -> Chapter {
    Chapter::new(path, Path::new("book/src"), Path::new(path), text)
}

/// What comes of the chapters, for better or worse.
fn check(chapters: &[Chapter]) -> Result<Vec<Ran>, Problems> {
    let (found, problems) = snippets(chapters);
    assert_eq!(problems.to_string(), "");
    runner().check(&found)
}

/// The first lines of the problems with one chapter, and their details.
fn problems(text: &str) -> Vec<(String, String)> {
    let problems = check(&[chapter("a.md", text)]).expect_err("a problem");
    let parts = |problem: weave::Problem| {
        let detail = problem.detail.clone().unwrap_or_default();
        (weave::Problem { detail: None, ..problem }.to_string(), detail)
    };
    problems.into_iter().map(parts).collect()
}

/// What is wrong with how a chapter's fences are written.
fn faults(text: &str) -> String {
    snippets(&[chapter("a.md", text)]).1.to_string()
}

#[test]
fn programs_of_every_kind_run_side_by_side() {
    let first = "# One\n\n\
        ```rust\nuse greet::hello;\n\nfn main() {\n    println!(\"{}\", hello(\"Ada\"));\n}\n```\n\n\
        ```text,output\nHello, Ada!\n```\n\n\
        ```rust\n#![allow(dead_code)]\nextern crate greet as g;\n# mod inner { pub fn two() -> u8 { 2 } }\n\
        use std::fmt;\n\n##[derive(Debug)]\nstruct Same;\nimpl fmt::Display for Same {\n    \
        fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { write!(f, \"first\") }\n}\n\
        fn main() {\n    print!(\"{Same} {} {}\", crate::inner::two(), g::hello(\"B\"));\n}\n```\n\
        ```text,output\nfirst 2 Hello, B!\n```\n";
    let second = "1. In a list:\n\n   \
        ```rust,edition2024\n   struct Same;\n   #\n   fn main() -> Result<(), std::fmt::Error> {\n       \
        let unused = Same;\n       println!(\"a\\n\\n  b\");\n       Ok(())\n   }\n   ```\n\n   \
        ```text,output\n   a\n\n     b\n   ```\n\n\
        ```rust,should_panic\nfn main() { println!(\"so far\"); panic!(\"on purpose\") }\n```\n\n\
        ```text,output\nso far\n```\n\n\
        ```rust,no_run\nfn main() { loop {} }\n```\n\n\
        ```rust\nfn main() { assert_eq!(std::env::args().count(), 1); }\n```\n";
    let ran = check(&[chapter("part/one.md", first), chapter("two.md", second)]).unwrap();
    let ran: Vec<_> =
        ran.iter().map(|ran| (ran.file.to_str().unwrap(), ran.line, ran.stdout.as_str())).collect();
    assert_eq!(
        ran,
        [
            ("book/src/part/one.md", 3, "Hello, Ada!\n"),
            ("book/src/part/one.md", 15, "first 2 Hello, B!"),
            ("book/src/two.md", 3, "a\n\n  b\n"),
            ("book/src/two.md", 19, "so far\n"),
            ("book/src/two.md", 31, ""),
        ]
    );
}

#[test]
fn stale_output_is_told_at_its_fence_with_the_difference() {
    let text = "```rust\nfn main() {\n    println!(\"one\\ntwo\\nthree\");\n}\n```\n\n\
        ```text,output\none\n2\nthree\n```\n";
    assert_eq!(
        problems(text),
        [(
            "book/src/a.md:7: the snippet prints something else; bless it if `+` is right"
                .to_owned(),
            "  one\n- 2\n+ two\n  three\n".to_owned()
        )]
    );
}

#[test]
fn what_does_not_compile_is_told_at_the_chapters_line() {
    let problems = problems("# Title\n\n```rust\nfn main() {\n    let n: u8 = \"one\";\n}\n```\n");
    let [(problem, detail)] = &problems[..] else { panic!("{problems:?}") };
    assert_eq!(problem, "book/src/a.md:5: the snippet does not compile: mismatched types");
    assert!(detail.contains("--> book/src/a.md:5:17"), "{detail}");
}

#[test]
fn faults_of_different_stages_and_chapters_are_told_together() {
    let unclosed = chapter("a.md", "```rust\nfn main() {\n```\n\nMore.\n");
    let unknown = chapter("b.md", "\n```rust\nuse greet::goodbye;\nfn main() { goodbye() }\n```\n");
    let mismatched = "```rust\nfn main() {\n    println!(\"{}\", greet::hello(1));\n}\n```\n\n\
        ```rust\nfn main() { panic!(\"late\") }\n```\n\n\
        ```rust\nfn main() { print!(\"1\") }\n```\n```text,output\n2\n```\n";
    let problems = check(&[unclosed, unknown, chapter("c.md", mismatched)]).unwrap_err();
    let places: Vec<_> = problems
        .iter()
        .map(|problem| (problem.file.to_str().unwrap(), problem.line.unwrap()))
        .collect();
    assert_eq!(
        places,
        [
            ("book/src/a.md", 2),
            ("book/src/b.md", 3),
            ("book/src/c.md", 3),
            ("book/src/c.md", 8),
            ("book/src/c.md", 14),
        ],
        "{problems}"
    );
}

#[test]
fn a_panic_is_told_at_the_line_that_panics() {
    let text = "```rust\nfn main() {\n    let n = 3;\n    assert_eq!(\n        n,\n        4,\n        \
        \"no\\nmore\"\n    );\n}\n```\n";
    let problems = problems(text);
    let [(problem, detail)] = &problems[..] else { panic!("{problems:?}") };
    assert_eq!(
        problem,
        "book/src/a.md:4: the snippet panics: assertion `left == right` failed: no"
    );
    assert!(detail.contains("more\n  left: 3\n right: 4"), "{detail}");
    assert!(!detail.contains("backtrace:"), "{detail}");
}

#[test]
fn a_panic_in_a_library_is_told_at_the_line_that_calls_it() {
    let problems =
        problems("```rust\nfn main() {\n    let name = \"\";\n    greet::hello(name);\n}\n```\n");
    assert_eq!(problems[0].0, "book/src/a.md:4: the snippet panics: nobody to greet");
}

#[test]
fn a_snippet_that_should_panic_has_to() {
    let text = "```rust,should_panic\nfn main() {}\n```\n";
    assert_eq!(
        problems(text)[0].0,
        "book/src/a.md:1: the snippet should panic, and does not; take away `should_panic` if it \
         is right so"
    );
}

#[test]
fn a_snippet_that_does_not_end_is_stopped() {
    let chapter = chapter("a.md", "\n```rust\nfn main() { loop {} }\n```\n");
    let (found, _) = snippets(&[chapter]);
    let runner = Runner { timeout: Duration::from_millis(200), ..runner() };
    let problems = runner.check(&found).unwrap_err().to_string();
    assert!(
        problems.starts_with("book/src/a.md:2: the snippet has not ended after 0.2 s"),
        "{problems}"
    );
}

#[test]
fn a_snippet_that_prints_without_end_is_stopped() {
    let problems = problems("```rust\nfn main() { loop { println!(\"again\") } }\n```\n");
    assert_eq!(problems[0].0, "book/src/a.md:1: the snippet prints more than 1048576 bytes");
}

#[test]
fn an_error_from_main_is_told_with_what_it_says() {
    let problems = problems(
        "```rust\nfn main() -> Result<(), String> {\n    Err(\"no luck\".into())\n}\n```\n",
    );
    let [(problem, detail)] = &problems[..] else { panic!("{problems:?}") };
    assert_eq!(problem, "book/src/a.md:1: the snippet fails with exit status: 1");
    assert_eq!(detail, "Error: \"no luck\"");
}

#[test]
fn badly_written_fences_are_told() {
    for (text, fault) in [
        (
            "```rust\nfn mein() {}\n```\n",
            "book/src/a.md:1: a rust fence is a whole program, and this one has no `fn main`; write \
             one; lines that begin with `# ` are hidden from readers",
        ),
        (
            "\n```rust,ignore\nfn main() {}\n```\n",
            "book/src/a.md:2: a rust fence cannot be `ignore`; show code that is not a tested program \
             in a `text` fence",
        ),
        (
            "```rust,should_pnic\nfn main() {}\n```\n",
            "book/src/a.md:1: a rust fence cannot be `should_pnic`; did you mean `should_panic`?",
        ),
        (
            "```text,output\n1\n```\n",
            "book/src/a.md:1: an output fence has no program; put it right behind the `rust` fence \
             that prints it",
        ),
        (
            "```rust\nfn main() {}\n```\n\nWords.\n\n```text,output\n1\n```\n",
            "book/src/a.md:7: an output fence has no program; put it right behind the `rust` fence \
             that prints it",
        ),
        (
            "```rust,no_run\nfn main() {}\n```\n```text,output\n1\n```\n",
            "book/src/a.md:4: a snippet that is not run prints nothing; take away `no_run`, or the \
             output fence",
        ),
        (
            "```\nfn main() {}\n```\n",
            "book/src/a.md:1: a fence that does not say what it holds is taken for Rust by rustdoc; \
             put its language behind the backticks, `text` if it has none",
        ),
        ("```python\nprint(1)\n```\n\n```text\nx\n```\n", ""),
    ] {
        assert_eq!(faults(text), fault, "{text}");
    }
}

#[test]
fn blessing_changes_the_output_fences_and_nothing_else() {
    let text = "A\r\n\n```rust\nfn main() { println!(\"new\\n\\nlines\") }\n```\n\n\
        ```text,output\nold\n```\n\n- B\n\n  \
        ```rust\n  fn main() { println!(\"in\\n\\nlist\") }\n  ```\n\n  ```text,output\n  ```\n\n\
        ```rust\nfn main() { print!(\"right\") }\n```\n```text,output\nright\n```\nEnd";
    let chapter = chapter("a.md", text);
    let (found, _) = snippets(std::slice::from_ref(&chapter));
    let ran = runner().run(&found).unwrap();
    let expected = text
        .replace("old\n", "new\n\nlines\n")
        .replace("  ```text,output\n", "  ```text,output\n  in\n\n  list\n");
    assert_eq!(blessed(&chapter, &ran), expected);
    let blessed = Chapter::new("a", Path::new("book/src"), Path::new("a.md"), &expected);
    check(&[blessed]).unwrap();
}

#[test]
fn output_that_would_end_its_fence_is_not_blessed() {
    let text = "```rust\nfn main() { println!(\"```\") }\n```\n\n```text,output\n```\n";
    assert_eq!(
        problems(text)[0].0,
        "book/src/a.md:5: the snippet prints a line that would end its output fence; open and close \
         the fence with more backticks"
    );
    let chapter = chapter("a.md", text);
    let printed = Ran { file: chapter.file.clone(), line: 1, stdout: "```\n".to_owned() };
    assert_eq!(blessed(&chapter, &[printed]), text);
}

#[test]
fn an_unwritable_folder_is_told() {
    let (found, _) = snippets(&[chapter("a.md", "```rust\nfn main() {}\n```\n")]);
    let occupied = Path::new(env!("CARGO_TARGET_TMPDIR")).join("occupied");
    std::fs::write(&occupied, "a file where the folder should be").unwrap();
    let problems = Runner { folder: occupied, ..runner() }.run(&found).unwrap_err().to_string();
    assert!(problems.contains("occupied: cannot write: "), "{problems}");
}

#[test]
fn crates_are_declared_behind_the_code() {
    let body = "#![allow(unused)]\nuse greet::hello;\nfn main() {}\n";
    assert_eq!(
        with_extern_crates(body, &["greet", "two-words"]),
        format!("{body}# extern crate greet;\n# extern crate two_words;\n")
    );
    let declared = "# extern crate greet;\nfn main() {}\n";
    assert_eq!(with_extern_crates(declared, &["greet"]), declared);
}
