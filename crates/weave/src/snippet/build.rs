//! Compiles the snippets' program with cargo, and brings what the compiler says
//! back to the chapters' lines.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;

use super::program::Part;
use crate::problem::{Problem, Problems};

/// A line of `cargo build --message-format=json`.
#[derive(Deserialize)]
struct Message {
    reason: String,
    message: Option<Diagnostic>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    message: String,
    spans: Vec<Span>,
    rendered: Option<String>,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: usize,
    is_primary: bool,
    expansion: Option<Box<Expansion>>,
}

#[derive(Deserialize)]
struct Expansion {
    span: Span,
}

/// What came of compiling.
pub(super) enum Built {
    /// The program.
    Program(PathBuf),
    /// Some snippets do not compile: which, and why.
    Faulty { parts: Vec<usize>, problems: Problems },
}

/// Compiles the package in `folder`.
pub(super) fn build(folder: &Path, parts: &[Part<'_>]) -> Result<Built, Problems> {
    // Without the net where the lock file and what was fetched before allow.
    let mut output = cargo(folder, &["--offline"])?;
    if !output.status.success() && messages(&output).all(|each| each.reason != "compiler-message") {
        output = cargo(folder, &[])?;
    }
    if output.status.success()
        && let Some(program) = messages(&output).find_map(|message| message.executable)
    {
        return Ok(Built::Program(program));
    }
    let errors: Vec<_> = messages(&output).filter_map(error).collect();
    let mut faulty = Vec::new();
    let mut problems = Problems::default();
    for error in &errors {
        if let Some((index, line)) = error.place(parts) {
            faulty.push(index);
            problems.push(error.problem(&parts[index], line));
        }
    }
    if faulty.is_empty() {
        return Err(unplaced(&output, &errors).into());
    }
    faulty.sort_unstable();
    faulty.dedup();
    Ok(Built::Faulty { parts: faulty, problems })
}

fn cargo(folder: &Path, more: &[&str]) -> Result<Output, Problem> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--message-format=json", "--target-dir", "target"]).args(more);
    // What a run under another cargo set for that one's build is not for this.
    command.current_dir(folder).env_remove("CARGO_BUILD_TARGET");
    command.output().map_err(|error| {
        Problem::in_file("Cargo.toml", format!("cannot start cargo to compile snippets: {error}"))
    })
}

fn messages(output: &Output) -> impl Iterator<Item = Message> {
    output.stdout.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

fn error(message: Message) -> Option<Diagnostic> {
    let error = message.message?;
    let counted = error.spans.is_empty() && error.message.starts_with("aborting due to");
    (error.level.starts_with("error") && !counted).then_some(error)
}

impl Diagnostic {
    /// The part and the line to blame: where the error is, or the call of the
    /// macro that it is in, or what it points to besides.
    fn place(&self, parts: &[Part<'_>]) -> Option<(usize, usize)> {
        let (primary, other): (Vec<_>, Vec<_>) =
            self.spans.iter().partition(|span| span.is_primary);
        primary.into_iter().chain(other).find_map(|span| span.place(parts))
    }

    fn problem(&self, part: &Part<'_>, line: usize) -> Problem {
        let snippet = part.snippet;
        // A delimiter that was never closed is missed behind the end.
        let line = line.clamp(snippet.line, snippet.last_line());
        let chapter = snippet.file.to_string_lossy();
        let rendered = self.rendered.as_deref().unwrap_or_default();
        Problem::at(&snippet.file, line, format!("the snippet does not compile: {}", self.message))
            .detail(rendered.replace(&part.file, &chapter).trim_end())
    }
}

impl Span {
    fn place(&self, parts: &[Part<'_>]) -> Option<(usize, usize)> {
        let own = parts.iter().position(|part| Path::new(&part.file) == Path::new(&self.file_name));
        match own {
            Some(index) => Some((index, self.line_start)),
            None => self.expansion.as_ref()?.span.place(parts),
        }
    }
}

/// Compiling failed, and no snippet is to blame.
fn unplaced(output: &Output, errors: &[Diagnostic]) -> Problem {
    let rendered: String = errors.iter().filter_map(|error| error.rendered.as_deref()).collect();
    let said = String::from_utf8_lossy(&output.stderr);
    let detail = if rendered.is_empty() { said.trim_end() } else { rendered.trim_end() };
    Problem::in_file("Cargo.toml", "the crates that snippets use cannot be built")
        .hint("compile them by themselves first")
        .detail(detail)
}
