//! The one program that all snippets are compiled into: a package of its own,
//! in which every snippet is a module in a file whose lines are numbered as the
//! chapter's, so that what the compiler says of a line is true of the chapter.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use toml::{Table, Value};
use walkdir::WalkDir;

use super::{Runner, Snippet};
use crate::problem::Problem;

/// The variable that tells the program which snippet to be.
pub(super) const SELECTOR: &str = "WEAVE_SNIPPET";

/// A snippet's place in the program.
#[derive(Clone, Debug)]
pub(super) struct Part<'a> {
    pub(super) snippet: &'a Snippet,
    /// Its module.
    pub(super) module: String,
    /// Its file as rustc names it: `src/book/src/soft-lookup.md.1.rs`.
    pub(super) file: String,
}

/// Names modules and files after chapters and the snippets' places in them, not
/// after lines, so that a line more or less renames nothing.
pub(super) fn parts(snippets: &[Snippet]) -> Vec<Part<'_>> {
    let mut counts = BTreeMap::new();
    let mut modules = BTreeSet::new();
    let named = snippets.iter().map(|snippet| {
        let file = &snippet.file;
        let count = counts.entry(file).and_modify(|count| *count += 1).or_insert(1);
        let chapter = file.to_string_lossy().replace('\\', "/");
        let name = format!("in_{chapter}_{count}");
        let mut module = name.replace(|each: char| !each.is_ascii_alphanumeric(), "_");
        while !modules.insert(module.clone()) {
            module.push('_');
        }
        Part { snippet, module, file: format!("src/{chapter}.{count}.rs") }
    });
    named.collect()
}

/// The package's folder, held against other runs while it is written, compiled
/// and run.
pub(super) struct Package {
    pub(super) folder: PathBuf,
    _lock: File,
}

impl Package {
    /// Makes the folder and waits until no other run uses it.
    pub(super) fn open(folder: &Path) -> Result<Package, Problem> {
        let lock = || {
            fs::create_dir_all(folder.join("src"))?;
            let lock = File::create(folder.join("lock"))?;
            lock.lock()?;
            Ok(lock)
        };
        let lock = lock().map_err(|error| cannot_write(folder, &error))?;
        Ok(Package { folder: folder.to_owned(), _lock: lock })
    }

    /// Writes what has changed of the program, and removes what no snippet
    /// belongs to any more: cargo recompiles nothing that was not written.
    pub(super) fn write(&self, runner: &Runner, parts: &[Part<'_>]) -> Result<(), Problem> {
        self.put("Cargo.toml", &manifest(runner))?;
        self.put_lock(&runner.lock)?;
        let mut files = BTreeSet::from([PathBuf::from("src/main.rs")]);
        for part in parts {
            self.put(&part.file, &part.source())?;
            files.insert(PathBuf::from(&part.file));
        }
        let there = WalkDir::new(self.folder.join("src")).into_iter().filter_map(Result::ok);
        for entry in there.filter(|entry| entry.file_type().is_file()) {
            let file = entry.path().strip_prefix(&self.folder).unwrap_or(entry.path());
            if !files.contains(file) {
                fs::remove_file(entry.path())
                    .map_err(|error| cannot_write(entry.path(), &error))?;
            }
        }
        Ok(())
    }

    /// Writes the program's root, which holds the parts that it names.
    pub(super) fn write_root<'a>(
        &self,
        parts: impl Iterator<Item = &'a Part<'a>>,
    ) -> Result<(), Problem> {
        self.put("src/main.rs", &root(parts))
    }

    /// Hands the book's lock file to the package, once for each of its
    /// versions: cargo strips what the package does not need from its copy.
    fn put_lock(&self, lock: &Path) -> Result<(), Problem> {
        let text = match fs::read_to_string(lock) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Problem::in_file(lock, format!("cannot read: {error}"))),
        };
        const LAST: &str = "Cargo.lock.given";
        if fs::read_to_string(self.folder.join(LAST)).is_ok_and(|last| last == text) {
            return Ok(());
        }
        self.put("Cargo.lock", &text)?;
        self.put(LAST, &text)
    }

    fn put(&self, file: &str, text: &str) -> Result<(), Problem> {
        let path = self.folder.join(file);
        if fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            return Ok(());
        }
        let write = || {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(&path, text)
        };
        write().map_err(|error| cannot_write(&path, &error))
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Problem {
    Problem::in_file(path, format!("cannot write: {error}"))
        .hint("see whether the disk is full and the folder may be written to")
}

impl Part<'_> {
    /// The snippet's module: as many empty lines as stand before it in the
    /// chapter, its code, and a door to its `main`.
    fn source(&self) -> String {
        let before = "\n".repeat(self.snippet.line);
        let code = rooted(&self.snippet.code, &self.module);
        let door = "pub(super) fn run_this_snippet() -> ::std::process::ExitCode \
                    { ::std::process::Termination::report(main()) }\n";
        before + &code + door
    }
}

/// The code with every `crate::` leading to the snippet's module, which is the
/// root of the reader's program.
fn rooted(code: &str, module: &str) -> String {
    let Ok(tokens) = code.parse() else { return code.to_owned() };
    let mut ends = Vec::new();
    find_roots(tokens, &mut ends);
    let mut rooted = code.to_owned();
    for end in ends.into_iter().rev() {
        rooted.insert_str(end, &format!("::{module}"));
    }
    rooted
}

/// Where each `crate` that a path begins with ends.
fn find_roots(tokens: TokenStream, ends: &mut Vec<usize>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => find_roots(group.stream(), ends),
            TokenTree::Ident(ident) if ident == "crate" => {
                if matches!(tokens.peek(), Some(TokenTree::Punct(colon)) if colon.as_char() == ':')
                {
                    ends.push(ident.span().byte_range().end);
                }
            }
            _ => {}
        }
    }
}

fn root<'a>(parts: impl Iterator<Item = &'a Part<'a>>) -> String {
    let (mut modules, mut arms) = (String::new(), String::new());
    for Part { module, file, .. } in parts {
        let file = file.trim_start_matches("src/");
        modules += &format!("#[path = {file:?}]\nmod {module};\n");
        arms += &format!("        Ok({module:?}) => {module}::run_this_snippet(),\n");
    }
    format!(
        "//! Generated: the programs of a book's chapters.\n\
         #![allow(warnings)]\n\n{modules}\n\
         fn main() -> std::process::ExitCode {{\n    \
         match std::env::var({SELECTOR:?}).as_deref() {{\n{arms}        \
         _ => std::process::ExitCode::FAILURE,\n    }}\n}}\n"
    )
}

fn manifest(runner: &Runner) -> String {
    let text = |text: &str| Value::String(text.to_owned());
    let table = |entries: Vec<(&str, Value)>| -> Table {
        entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    };
    let dependencies = runner.crates.iter().map(|(name, folder)| {
        let folder = runner.root.join(folder).to_string_lossy().into_owned();
        (name.clone(), Value::Table(table(vec![("path", text(&folder))])))
    });
    let package = table(vec![
        ("name", text("weave-snippets")),
        ("version", text("0.0.0")),
        ("edition", text("2024")),
        ("publish", Value::Boolean(false)),
    ]);
    // Lines, and no more, are needed to say where a snippet panicked. What
    // snippets call is slow without any optimisation.
    let every_dependency =
        table(vec![("opt-level", Value::Integer(1)), ("debug", Value::Boolean(false))]);
    let development = table(vec![
        ("debug", text("line-tables-only")),
        ("package", Value::Table(table(vec![("*", Value::Table(every_dependency))]))),
    ]);
    table(vec![
        ("package", Value::Table(package)),
        ("dependencies", Value::Table(dependencies.collect())),
        ("workspace", Value::Table(Table::new())),
        ("profile", Value::Table(table(vec![("dev", Value::Table(development))]))),
    ])
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_from_the_root_lead_to_the_snippet() {
        let code = "use crate::a::B; pub(crate) fn f() { $crate::g!(\"crate::x\") } // crate::y\n\
                    extern crate c;";
        assert_eq!(
            rooted(code, "m"),
            "use crate::m::a::B; pub(crate) fn f() { $crate::m::g!(\"crate::x\") } // crate::y\n\
             extern crate c;"
        );
        assert_eq!(rooted("fn main( {", "m"), "fn main( {");
    }

    #[test]
    fn parts_are_named_after_chapters_and_places() {
        let snippet = |file: &str, line| Snippet {
            file: file.into(),
            line,
            code: "fn main() {}\n".to_owned(),
            expectation: super::super::Expectation::Run,
            output: None,
        };
        let snippets =
            [snippet("src/a-b.md", 7), snippet("src/a_b.md", 1), snippet("src/a-b.md", 20)];
        let parts = parts(&snippets);
        let names: Vec<_> =
            parts.iter().map(|part| (part.module.as_str(), part.file.as_str())).collect();
        assert_eq!(
            names,
            [
                ("in_src_a_b_md_1", "src/src/a-b.md.1.rs"),
                ("in_src_a_b_md_1_", "src/src/a_b.md.1.rs"),
                ("in_src_a_b_md_2", "src/src/a-b.md.2.rs"),
            ]
        );
        let line = parts[0].source().lines().position(|line| line == "fn main() {}");
        assert_eq!(line, Some(7), "line 8 of the chapter, counted from 1");
    }
}
