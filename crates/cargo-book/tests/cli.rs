//! The command line as its user meets it: help, messages and exit codes. What
//! the weaver finds wrong with books is tested there.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const BOOK: &str = "[book]\ntitle = \"Cats\"\nsrc = \"src\"\n\n[build]\nbuild-dir = \"out\"\n\
    create-missing = false\n\n[preprocessor.weave]\nlock = \"values.lock\"\nworked = \"worked\"\n";

/// A small book in a folder of its own.
fn book(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let basic = [
        ("book.toml", BOOK),
        ("src/SUMMARY.md", "# Summary\n\n- [One](one.md)\n"),
        ("src/one.md", "# One\n"),
    ];
    for (file, text) in basic.iter().chain(files) {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-book"));
    command.args(arguments).current_dir(folder).env("CARGO_TARGET_DIR", folder.join("target"));
    command
}

fn run(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let Output { status, stdout, stderr } = command(folder, arguments).output().unwrap();
    let text =
        format!("{}{}", String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    (status.code().expect("no signal"), text)
}

#[test]
fn help_is_given_with_an_example() {
    let folder = tempfile::tempdir().unwrap();
    let (code, text) = run(folder.path(), &["--help"]);
    assert_eq!(code, 0);
    for name in ["build", "serve", "test", "bless", "new"] {
        assert!(text.contains(&format!("\n  {name}")), "{name} is not in {text}");
        let (code, help) = run(folder.path(), &[name, "--help"]);
        assert_eq!(code, 0, "{help}");
        assert!(help.contains(&format!("Usage: cargo book {name}")), "{help}");
        assert!(help.contains(&format!("Example: cargo book {name}")), "{help}");
    }
    assert!(!text.contains("preprocess"), "{text}");
}

#[test]
fn what_is_no_command_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["biuld"][..], &["serve", "--port", "many"], &["new"], &[]] {
        let (code, text) = run(folder.path(), arguments);
        assert_eq!(code, 2, "{arguments:?}: {text}");
        assert!(text.contains("--help") || text.contains("Usage: cargo book"), "{text}");
    }
}

#[test]
fn without_a_book_the_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["build", "serve", "test", "bless"] {
        let (code, text) = run(folder.path(), &[name]);
        assert_eq!(code, 2, "{text}");
        assert!(text.starts_with("error: there is no book.toml in /"), "{text}");
    }
}

#[test]
fn a_broken_book_toml_is_shown_with_its_line_from_any_folder_below() {
    let folder = book(&[("book.toml", "[book]\ntitle = \"Cats\"\nsrc = [\n")]);
    for name in ["build", "serve", "test", "bless"] {
        let (code, text) = run(&folder.path().join("src"), &[name]);
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("error: book.toml:") && text.contains("1 problem"), "{text}");
        assert!(!text.contains('\u{1b}'), "no colours but on a terminal: {text}");
    }
}

#[test]
fn all_problems_are_shown_and_counted() {
    let folder = book(&[("src/one.md", "# One\n\n{{value a.b}}\n\n{{value c.d}}\n")]);
    let (code, text) = run(folder.path(), &["test"]);
    assert_eq!(code, 1, "{text}");
    for problem in ["error: src/one.md:3: unknown value `a.b`", "error: src/one.md:5: "] {
        assert!(text.contains(problem), "{text}");
    }
    let count = text.matches("error: ").count();
    assert!(text.ends_with(&format!("the book has {count} problems\n")), "{text}");
    assert!(!folder.path().join("out").exists());
}

#[test]
fn a_name_that_is_none_changes_nothing() {
    let folder = book(&[("worked/src/lib.rs", "pub mod a;\n")]);
    let (code, text) = run(folder.path(), &["new", "Attention"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("not of the form part/chapter"), "{text}");
    assert!(text.contains("such as `attention/many-heads`"), "{text}");
    let (code, text) = run(folder.path(), &["new", "attention/heads"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("worked/src/lib.rs: has no line"), "{text}");
    assert!(!folder.path().join("src/attention").exists());
}

#[test]
fn mdbook_is_told_which_renderers_are_supported() {
    let folder = tempfile::tempdir().unwrap();
    for (name, renderer, code) in [
        ("weave", "html", 0),
        ("weave", "test", 0),
        ("katex", "html", 0),
        ("katex", "test", 1),
        ("x", "html", 1),
    ] {
        let (given, text) = run(folder.path(), &["preprocess", name, "supports", renderer]);
        assert_eq!((given, text.as_str()), (code, ""), "{name} {renderer}");
    }
}

#[test]
fn input_that_is_not_mdbooks_is_refused() {
    let folder = book(&[]);
    let mut child = command(folder.path(), &["preprocess", "weave"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"not JSON").unwrap();
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    assert_eq!(status.code(), Some(2));
    assert!(stdout.is_empty());
    assert!(String::from_utf8(stderr).unwrap().starts_with("error: "));
}

#[test]
fn a_taken_port_names_the_remedy() {
    let folder = book(&[]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (code, text) = run(folder.path(), &["serve", "--port", &port]);
    assert_eq!(code, 2, "{text}");
    let message = format!("error: port {port} is taken by another program");
    assert!(text.contains(&message) && text.contains("--port"), "{text}");
}

/// The fixture quotes none of the book's values, which is a problem: the server
/// must show it and live on.
#[cfg(unix)]
#[test]
fn a_faulty_book_is_served_until_the_server_is_interrupted() {
    let folder = book(&[]);
    let mut server =
        command(folder.path(), &["serve", "--port", "0"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(server.stderr.take().unwrap()).lines().map(Result::unwrap);
    let line = said.find(|line| line.contains("serving http://127.0.0.1:")).unwrap();
    let (_, address) = line.split_once("http://").unwrap();
    let (address, _) = address.split_once('/').unwrap();
    let mut connection = TcpStream::connect(address).unwrap();
    write!(connection, "GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut page = String::new();
    connection.read_to_string(&mut page).unwrap();
    assert!(page.starts_with("HTTP/1.1 503") && page.contains("no chapter quotes"), "{page}");
    let id = server.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(server.wait().unwrap().code(), Some(0));
    assert!(said.any(|line| line == "stopped"));
}
