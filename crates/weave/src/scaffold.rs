//! Begins a chapter: the Markdown file with its headings, the module that
//! computes its values, and the lines that make both known. Either all of it is
//! written or nothing.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::problem::{Problem, Problems};
use crate::project::Project;

/// The files of a new chapter, relative to the book's root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scaffold {
    /// The chapter's Markdown.
    pub chapter: PathBuf,
    /// The module with its worked example.
    pub module: PathBuf,
    /// What was changed: the table of contents and the worked crate's root.
    pub changed: [PathBuf; 2],
}

/// Names that the site or Rust has taken.
const RESERVED_PARTS: [&str; 4] = ["api", "fonts", "katex", "theme"];
const RESERVED_CHAPTERS: [&str; 3] = ["index", "lib", "print"];

/// Begins the chapter `part/chapter`: two names of lower-case words joined by
/// hyphens.
///
/// # Errors
///
/// The name is no such name; a file or an entry of that name exists already; or
/// the table of contents or the worked crate's root do not have the lines that
/// the new ones are put after. Nothing is then written.
pub fn chapter(project: &Project, name: &str) -> Result<Scaffold, Problems> {
    let name = Name::parse(name)?;
    let source = project.config().book.src.clone();
    let worked = project.settings().worked.join("src");
    let scaffold = Scaffold {
        chapter: source.join(&name.part).join(format!("{}.md", name.chapter)),
        module: worked.join(format!("{}.rs", name.module())),
        changed: [source.join("SUMMARY.md"), worked.join("lib.rs")],
    };
    let mut problems = Problems::default();
    for file in [&scaffold.chapter, &scaffold.module] {
        if project.root().join(file).exists() {
            problems.push(Problem::in_file(file, "exists already").hint("choose another name"));
        }
    }
    let [summary, root_module] = &scaffold.changed;
    let summary_text = edited(project, summary, |text| with_entry(text, &name), &mut problems);
    let module_text = edited(project, root_module, |text| with_module(text, &name), &mut problems);
    problems.or(())?;
    let mut writes = Writes::new(project.root());
    let written = writes
        .create(&scaffold.chapter, &chapter_text(&name))
        .and_then(|()| writes.create(&scaffold.module, &module_source(&name)))
        .and_then(|()| writes.replace(summary, &summary_text))
        .and_then(|()| writes.replace(root_module, &module_text));
    match written {
        Ok(()) => Ok(scaffold),
        Err(problem) => {
            writes.undo();
            Err(problem.hint("nothing was changed").into())
        }
    }
}

/// The text of a file with what `edit` puts in; empty if that is a problem.
fn edited(
    project: &Project,
    file: &Path,
    edit: impl Fn(&str) -> Result<String, Problem>,
    problems: &mut Problems,
) -> String {
    let result = project.read(file).and_then(|text| {
        edit(&text).map_err(|problem| Problem { file: file.to_owned(), ..problem })
    });
    result.unwrap_or_else(|problem| {
        problems.push(problem);
        String::new()
    })
}

/// A chapter's name, checked.
struct Name {
    part: String,
    chapter: String,
}

impl Name {
    fn parse(name: &str) -> Result<Name, Problem> {
        let wrong = |message: String| {
            Problem::in_file(name, message)
                .hint("name the part and the chapter, such as `attention/many-heads`")
        };
        let parts: Vec<_> = name.split('/').collect();
        let [part, chapter] = parts[..] else {
            return Err(wrong("not of the form part/chapter".to_owned()));
        };
        for word in [part, chapter] {
            if !is_kebab(word) {
                return Err(wrong(format!("`{word}` is not lower-case words joined by hyphens")));
            }
        }
        let module = chapter.replace('-', "_");
        if syn::parse_str::<syn::Ident>(&module).is_err() {
            return Err(wrong(format!("`{module}` is a word of the Rust language")));
        }
        if RESERVED_PARTS.contains(&part) || RESERVED_CHAPTERS.contains(&chapter) {
            return Err(wrong("the site needs that name for something else".to_owned()));
        }
        Ok(Name { part: part.to_owned(), chapter: chapter.to_owned() })
    }

    /// The chapter's name as Rust writes it.
    fn module(&self) -> String {
        self.chapter.replace('-', "_")
    }

    fn link(&self) -> String {
        format!("{}/{}.md", self.part, self.chapter)
    }

    fn title(&self) -> String {
        title(&self.chapter)
    }
}

/// Begins with a letter, as a Rust module must.
fn is_kebab(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.split('-').all(|part| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        })
}

/// `many-heads` as a title: `Many heads`.
fn title(name: &str) -> String {
    let words = name.replace('-', " ");
    let (first, rest) = words.split_at(1);
    first.to_uppercase() + rest
}

/// The table of contents with the new chapter: after the last of its part, or,
/// for a new part, under a heading of its own before the appendix.
fn with_entry(summary: &str, name: &Name) -> Result<String, Problem> {
    let entry = format!("- [{}]({})\n", name.title(), name.link());
    let lines = lines(summary);
    if let Some(index) = lines.iter().position(|line| summary[line.clone()].contains(&name.link()))
    {
        return Err(Problem::at("", index + 1, format!("`{}` is named already", name.link()))
            .hint("choose another name"));
    }
    let of_part = format!("]({}/", name.part);
    let last = lines.iter().rposition(|line| summary[line.clone()].contains(&of_part));
    if let Some(last) = last {
        return Ok(inserted(summary, lines[last].end, &entry));
    }
    let headed = format!("# {}\n\n{entry}", title(&name.part));
    match appendix(summary, &lines) {
        Some(at) => Ok(inserted(summary, at, &format!("{headed}\n"))),
        None => Ok(inserted(summary, summary.len(), &format!("\n{headed}"))),
    }
}

/// Where the appendix begins: with the heading or the rule above its first
/// chapter.
fn appendix(summary: &str, lines: &[Range<usize>]) -> Option<usize> {
    let text = |index: usize| summary[lines[index].clone()].trim();
    let mut first = (0..lines.len()).find(|&index| text(index).contains("](appendix/"))?;
    while first > 0 {
        let above = text(first - 1);
        if !(above.is_empty() || above.starts_with("# ") || above.starts_with("---")) {
            break;
        }
        first -= 1;
    }
    // The empty line after the chapter before stays with it.
    if text(first).is_empty() {
        first += 1;
    }
    Some(lines[first].start)
}

/// The worked crate's root with the new module declared and entered.
fn with_module(root: &str, name: &Name) -> Result<String, Problem> {
    let module = name.module();
    let lines = lines(root);
    let text = |index: usize| root[lines[index].clone()].trim();
    let declared = |index: &usize| module_of(text(*index)).is_some();
    let taken = (0..lines.len()).find(|&index| module_of(text(index)) == Some(&module));
    if let Some(index) = taken {
        return Err(Problem::at("", index + 1, format!("the module `{module}` exists already"))
            .hint("choose another name"));
    }
    let Some(last) = (0..lines.len()).rfind(declared) else {
        return Err(Problem::in_file("", "has no line `pub mod …;` to put another one after"));
    };
    // rustfmt wants a block of modules in order.
    let block = (0..=last).rev().take_while(declared);
    let before = block.filter(|&index| module_of(text(index)) > Some(&module)).last();
    let declare_at = before.map_or(lines[last].end, |index| lines[index].start);
    let enters = |line: &str| line.ends_with("::enter(&mut ledger);");
    let Some(last) = (0..lines.len()).rfind(|&index| enters(text(index))) else {
        return Err(Problem::in_file(
            "",
            "has no line `…::enter(&mut ledger);` to put another one after",
        ));
    };
    let line = &root[lines[last].clone()];
    let indent = &line[..line.len() - line.trim_start().len()];
    let with_enter =
        inserted(root, lines[last].end, &format!("{indent}{module}::enter(&mut ledger);\n"));
    if declare_at > lines[last].end {
        return Err(Problem::at("", 1, "declares modules below the function that enters them")
            .hint("move the `pub mod …;` lines to the top"));
    }
    Ok(inserted(&with_enter, declare_at, &format!("pub mod {module};\n")))
}

fn module_of(line: &str) -> Option<&str> {
    line.strip_prefix("pub mod ")?.strip_suffix(';')
}

/// The bytes of each line, its end included.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    text.split_inclusive('\n')
        .map(|line| {
            let range = start..start + line.len();
            start = range.end;
            range
        })
        .collect()
}

fn inserted(text: &str, at: usize, new: &str) -> String {
    let (before, after) = text.split_at(at);
    let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    format!("{before}{end}{new}{after}")
}

/// Files written so far, to take back should a later one fail.
struct Writes<'a> {
    root: &'a Path,
    created: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    replaced: Vec<(PathBuf, Vec<u8>)>,
}

impl<'a> Writes<'a> {
    fn new(root: &'a Path) -> Writes<'a> {
        Writes { root, created: Vec::new(), folders: Vec::new(), replaced: Vec::new() }
    }

    fn create(&mut self, file: &Path, text: &str) -> Result<(), Problem> {
        let path = self.root.join(file);
        let mut write = || -> io::Result<()> {
            let missing = path.ancestors().skip(1).take_while(|folder| !folder.exists());
            let missing: Vec<_> = missing.map(Path::to_owned).collect();
            for folder in missing.into_iter().rev() {
                fs::create_dir(&folder)?;
                self.folders.push(folder);
            }
            let mut created = File::create_new(&path)?;
            self.created.push(path.clone());
            created.write_all(text.as_bytes())?;
            created.sync_all()
        };
        write().map_err(|error| unwritten(file, &error))
    }

    fn replace(&mut self, file: &Path, text: &str) -> Result<(), Problem> {
        let path = self.root.join(file);
        let mut write = || -> io::Result<()> {
            let before = fs::read(&path)?;
            ledger::replace_file(&path, text.as_bytes())?;
            self.replaced.push((path.clone(), before));
            Ok(())
        };
        write().map_err(|error| unwritten(file, &error))
    }

    /// Takes everything back, as far as the disk lets us: there is no one left
    /// to tell if it does not.
    fn undo(self) {
        for (path, before) in self.replaced {
            let _ = ledger::replace_file(&path, &before);
        }
        for path in self.created {
            let _ = fs::remove_file(path);
        }
        for folder in self.folders.into_iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

fn unwritten(file: &Path, error: &io::Error) -> Problem {
    Problem::in_file(file, format!("cannot be written: {error}"))
}

const CHAPTER: &str = include_str!("scaffold/chapter.md");
const MODULE: &str = include_str!("scaffold/module.rs.txt");

fn chapter_text(name: &Name) -> String {
    filled(CHAPTER, name)
}

fn module_source(name: &Name) -> String {
    filled(MODULE, name)
}

/// The template with the chapter's name in its places.
fn filled(template: &str, name: &Name) -> String {
    template
        .replace("@TITLE@", &name.title())
        .replace("@CHAPTER@", &name.chapter)
        .replace("@LINK@", &name.link())
}

#[cfg(test)]
mod tests;
