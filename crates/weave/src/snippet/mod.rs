//! A book's programs: every `rust` fence, with what it should print. Finding
//! them in the chapters and writing their output back is done here; compiling
//! and running them is the [`Runner`]'s.

mod build;
mod execute;
mod program;
mod runner;

use std::ops::Range;
use std::path::PathBuf;

use similar::TextDiff;

use crate::chapter::{Chapter, Fence};
use crate::problem::{Problem, Problems, closest};
pub use runner::{Ran, Runner};

/// A whole program that stands in a chapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// The chapter's file, relative to the book's root.
    pub file: PathBuf,
    /// The line of the opening backticks; the code begins on the next.
    pub line: usize,
    /// The program, the lines that readers do not see included.
    pub code: String,
    /// What should come of it.
    pub expectation: Expectation,
    /// What it should print, where the chapter says so.
    pub output: Option<OutputFence>,
}

/// What should come of a snippet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// It runs to a good end.
    Run,
    /// It panics.
    ShouldPanic,
    /// It compiles; it is not run.
    NoRun,
}

/// The `text,output` fence behind a snippet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFence {
    /// The line of its opening backticks.
    pub line: usize,
    /// What it holds, without the indentation of the fence.
    pub body: String,
    body_range: Range<usize>,
    indent: String,
    backticks: String,
}

/// Words of a `rust` fence that do not change what is tested.
const HARMLESS: [&str; 4] = ["rust", "edition2024", "editable", "noplayground"];
const SHOULD_PANIC: &str = "should_panic";
const NO_RUN: &str = "no_run";

impl Snippet {
    /// The last line of its code in the chapter.
    fn last_line(&self) -> usize {
        self.line + self.code.lines().count().max(1)
    }
}

impl OutputFence {
    fn new(chapter: &Chapter, fence: &Fence) -> OutputFence {
        let opening = &chapter.text[fence.range.clone()];
        let marker = opening.chars().next().unwrap_or('`');
        OutputFence {
            line: fence.line,
            body: plain_body(chapter, fence),
            body_range: fence.body_range.clone(),
            indent: indent(chapter, fence).to_owned(),
            backticks: opening.chars().take_while(|&each| each == marker).collect(),
        }
    }

    /// Whether that is what the fence holds; the end of the last line does not
    /// count.
    fn holds(&self, printed: &str) -> bool {
        self.body.lines().eq(printed.lines())
    }

    /// Whether a line of the text would end the fence too early.
    fn is_closed_by(&self, printed: &str) -> bool {
        printed.lines().any(|line| line.trim_start().starts_with(&self.backticks))
    }

    /// The text as it stands in the chapter.
    fn written(&self, printed: &str) -> String {
        let lines = printed.lines().map(|line| match line {
            "" => self.indent.trim_end().to_owned() + "\n",
            line => format!("{}{line}\n", self.indent),
        });
        lines.collect()
    }
}

/// What stands before a fence on its opening line: the indentation in a list,
/// the `>` of a quotation.
fn indent<'a>(chapter: &'a Chapter, fence: &Fence) -> &'a str {
    let before = &chapter.text[..fence.range.start];
    &before[before.rfind('\n').map_or(0, |at| at + 1)..]
}

/// The fence's code without its indentation, line for line.
fn plain_body(chapter: &Chapter, fence: &Fence) -> String {
    let indent = indent(chapter, fence);
    let plain = |line: &str| {
        let blank = line.len() - line.trim_start_matches(' ').len();
        let rest = match line.strip_prefix(indent.trim_end()) {
            Some(rest) if !indent.trim().is_empty() => rest.strip_prefix(' ').unwrap_or(rest),
            _ => &line[blank.min(indent.chars().count())..],
        };
        rest.to_owned() + "\n"
    };
    fence.body.lines().map(plain).collect()
}

/// All programs of the chapters, and what is wrong with how they are written.
/// A snippet that has something wrong with it is not among them.
#[must_use]
pub fn snippets(chapters: &[Chapter]) -> (Vec<Snippet>, Problems) {
    let mut snippets = Vec::new();
    let mut problems = Problems::default();
    for chapter in chapters {
        for (index, fence) in chapter.fences.iter().enumerate() {
            if fence.has("rust") {
                let output = chapter.fences.get(index + 1).filter(|_| has_output(chapter, index));
                let output = output.map(|fence| OutputFence::new(chapter, fence));
                match snippet(chapter, fence, output) {
                    Ok(snippet) => snippets.push(snippet),
                    Err(wrong) => problems.extend(wrong),
                }
            } else if let Some(problem) = astray(chapter, fence, index) {
                problems.push(problem);
            }
        }
    }
    (snippets, problems)
}

/// Whether the fence is followed by an output fence.
fn has_output(chapter: &Chapter, index: usize) -> bool {
    let [fence, next, ..] = &chapter.fences[index..] else { return false };
    let between = &chapter.text[fence.range.end..next.range.start];
    next.has("output")
        && !next.has("rust")
        && between.trim_matches(['>', ' ', '\n', '\r', '\t']).is_empty()
}

/// What is wrong with a fence that is not a program.
fn astray(chapter: &Chapter, fence: &Fence, index: usize) -> Option<Problem> {
    let at = |message: &str| Problem::at(&chapter.file, fence.line, message);
    if fence.words().next().is_none() {
        let problem = at("a fence that does not say what it holds is taken for Rust by rustdoc");
        return Some(problem.hint("put its language behind the backticks, `text` if it has none"));
    }
    let follows = index
        .checked_sub(1)
        .is_some_and(|before| chapter.fences[before].has("rust") && has_output(chapter, before));
    (fence.has("output") && !follows).then(|| {
        at("an output fence has no program")
            .hint("put it right behind the `rust` fence that prints it")
    })
}

fn snippet(
    chapter: &Chapter,
    fence: &Fence,
    output: Option<OutputFence>,
) -> Result<Snippet, Problems> {
    let at = |message: String| Problem::at(&chapter.file, fence.line, message);
    let mut problems: Problems = fence
        .words()
        .filter_map(wrong_word)
        .map(|(message, hint)| at(message).hint(hint))
        .collect();
    let expectation = match (fence.has(SHOULD_PANIC), fence.has(NO_RUN)) {
        (_, true) => Expectation::NoRun,
        (true, false) => Expectation::ShouldPanic,
        (false, false) => Expectation::Run,
    };
    if let (Expectation::NoRun, Some(output)) = (expectation, &output) {
        let problem =
            Problem::at(&chapter.file, output.line, "a snippet that is not run prints nothing");
        problems.push(problem.hint("take away `no_run`, or the output fence"));
    }
    let code = unhidden(&plain_body(chapter, fence));
    if !has_main(&code) {
        let problem =
            at("a rust fence is a whole program, and this one has no `fn main`".to_owned());
        problems
            .push(problem.hint("write one; lines that begin with `# ` are hidden from readers"));
    }
    let (file, line) = (chapter.file.clone(), fence.line);
    problems.or(Snippet { file, line, code, expectation, output })
}

/// What is wrong with a word behind the backticks of a `rust` fence, and what
/// to do.
fn wrong_word(word: &str) -> Option<(String, String)> {
    let known = HARMLESS.into_iter().chain([SHOULD_PANIC, NO_RUN]);
    if known.clone().any(|each| each == word) {
        return None;
    }
    let remedy = match word {
        "ignore" | "compile_fail" => {
            "show code that is not a tested program in a `text` fence".to_owned()
        }
        _ => match closest(word, known) {
            Some(known) => format!("did you mean `{known}`?"),
            None => format!("`{SHOULD_PANIC}` and `{NO_RUN}` are known"),
        },
    };
    Some((format!("a rust fence cannot be `{word}`"), remedy))
}

/// The program with its hidden lines, which begin with `# `, as rustdoc would
/// compile it; as many lines as before.
fn unhidden(body: &str) -> String {
    let line = |line: &str| {
        let text = line.trim();
        match text.strip_prefix("# ") {
            Some(hidden) => hidden.to_owned(),
            None if text == "#" => String::new(),
            None if text.starts_with("##") => line.replacen("##", "#", 1),
            None => line.to_owned(),
        }
    };
    body.lines().map(|each| line(each) + "\n").collect()
}

/// Whether the program has a `fn main`. What cannot be parsed is searched for
/// the words: its real fault is the compiler's to tell.
fn has_main(code: &str) -> bool {
    match syn::parse_file(code) {
        Ok(file) => file
            .items
            .iter()
            .any(|item| matches!(item, syn::Item::Fn(function) if function.sig.ident == "main")),
        Err(_) => code.contains("fn main"),
    }
}

/// The snippets whose output fences differ from what they printed.
#[must_use]
pub fn differences(snippets: &[Snippet], ran: &[Ran]) -> Problems {
    snippets.iter().filter_map(|snippet| difference(snippet, ran)).collect()
}

fn difference(snippet: &Snippet, ran: &[Ran]) -> Option<Problem> {
    let output = snippet.output.as_ref()?;
    let printed = ran.iter().find(|ran| ran.is_of(snippet)).map(|ran| ran.stdout.as_str())?;
    let at = |message| Problem::at(&snippet.file, output.line, message);
    if output.is_closed_by(printed) {
        let problem = at("the snippet prints a line that would end its output fence");
        return Some(problem.hint("open and close the fence with more backticks"));
    }
    (!output.holds(printed)).then(|| {
        let changes = TextDiff::from_lines(output.body.trim_end(), printed.trim_end());
        let lines = changes
            .iter_all_changes()
            .map(|change| format!("{} {}\n", change.tag(), change.value().trim_end_matches('\n')));
        at("the snippet prints something else")
            .hint("bless it if `+` is right")
            .detail(lines.collect::<String>())
    })
}

/// The chapter's text with the output fences holding what their snippets
/// printed; nothing else is changed.
#[must_use]
pub fn blessed(chapter: &Chapter, ran: &[Ran]) -> String {
    let (snippets, _) = snippets(std::slice::from_ref(chapter));
    let mut text = chapter.text.clone();
    for snippet in snippets.iter().rev() {
        let Some(output) = &snippet.output else { continue };
        let Some(ran) = ran.iter().find(|ran| ran.is_of(snippet)) else { continue };
        if !output.holds(&ran.stdout) && !output.is_closed_by(&ran.stdout) {
            text.replace_range(output.body_range.clone(), &output.written(&ran.stdout));
        }
    }
    text
}

/// The body of a `rust` fence with a hidden `extern crate` line for each crate,
/// which rustdoc needs when it finds crates through `-L` only. The lines stand
/// last, where no inner attribute has to come before them and no other line is
/// moved.
#[must_use]
pub fn with_extern_crates(body: &str, crates: &[&str]) -> String {
    let code = unhidden(body);
    let declared = |name: &str| {
        let declaration = format!("extern crate {name}");
        code.lines().any(|line| line.trim_start().starts_with(&declaration))
    };
    let mut body = body.to_owned();
    for name in crates.iter().map(|name| name.replace('-', "_")).filter(|name| !declared(name)) {
        if !body.is_empty() && !body.ends_with('\n') {
            body.push('\n');
        }
        body += &format!("# extern crate {name};\n");
    }
    body
}
