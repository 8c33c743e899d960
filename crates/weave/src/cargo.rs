//! Runs cargo for the weaver: its progress goes to the terminal, its complaints
//! to the terminal and to the problems, with file and line.

use std::collections::BTreeSet;
use std::env;
use std::io::{self, BufRead, BufReader, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::problem::{Problem, Problems};
use crate::project::Project;

/// Cargo as `cargo run` names it to us, so that the same toolchain is used; else
/// the one on the path.
pub(crate) fn command(root: &Path, target: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).env("CARGO_TARGET_DIR", target);
    command
}

/// What cargo compiled.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    /// The packages that went into it: `ndarray 0.17.1`.
    pub(crate) packages: BTreeSet<String>,
}

/// Runs cargo to its end; `command` has its arguments already.
///
/// # Errors
///
/// What the compiler found wrong; or one problem that says why cargo failed
/// without the compiler's help.
pub(crate) fn run(mut command: Command, what: &str) -> Result<Compiled, Problems> {
    let colour = if io::stderr().is_terminal() { "json-diagnostic-rendered-ansi" } else { "json" };
    let failed =
        |reason: String| Problem::in_file("Cargo.toml", format!("{what} failed: {reason}"));
    let mut child = command
        .arg(format!("--message-format={colour}"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(format!("cargo cannot be run: {error}")))?;
    let mut problems = Problems::default();
    let mut compiled = Compiled::default();
    let messages = child.stdout.take().map(BufReader::new);
    for line in messages.into_iter().flat_map(BufRead::lines).map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Message>(&line) else { continue };
        if message.reason == "compiler-artifact" {
            compiled.packages.extend(message.package_id.as_deref().and_then(package));
        }
        let Some(diagnostic) = message.message else { continue };
        eprint!("{}", diagnostic.rendered.as_deref().unwrap_or_default());
        if diagnostic.level.starts_with("error") {
            problems.push(diagnostic.into_problem());
        }
    }
    let status = child.wait().map_err(|error| failed(error.to_string()))?;
    if problems.is_empty() && !status.success() {
        problems.push(failed(format!("{status}")).hint("see what cargo said in the terminal"));
    }
    problems.or(compiled)
}

/// Name and version, from cargo's `registry+…#ndarray@0.17.1`.
fn package(id: &str) -> Option<String> {
    let (name, version) = id.rsplit_once('#')?.1.rsplit_once('@')?;
    Some(format!("{name} {version}"))
}

#[derive(Deserialize)]
struct Manifest {
    package: Package,
}

#[derive(Deserialize)]
struct Package {
    name: String,
}

/// The packages in folders that a setting of book.toml lists: each one's name
/// and folder.
///
/// # Errors
///
/// A folder has no manifest, or one without a name.
pub(crate) fn packages(
    project: &Project,
    folders: &[PathBuf],
    setting: &str,
) -> Result<Vec<(String, PathBuf)>, Problems> {
    let mut problems = Problems::default();
    let mut packages = Vec::new();
    for folder in folders {
        let file = folder.join("Cargo.toml");
        let manifest = project.read(&file).and_then(|text| {
            toml::from_str::<Manifest>(&text)
                .map_err(|error| Problem::in_file(&file, error.message().trim()))
        });
        match manifest {
            Ok(manifest) => packages.push((manifest.package.name, folder.clone())),
            Err(problem) => problems.push(problem.hint(format!(
                "`{setting}` under [preprocessor.weave] in book.toml names this folder"
            ))),
        }
    }
    problems.or(packages)
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    reason: String,
    package_id: Option<String>,
    message: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Diagnostic {
    message: String,
    level: String,
    spans: Vec<Span>,
    rendered: Option<String>,
}

#[derive(Deserialize)]
struct Span {
    file_name: PathBuf,
    line_start: usize,
    is_primary: bool,
}

impl Diagnostic {
    fn into_problem(self) -> Problem {
        let problem = match self.spans.iter().find(|span| span.is_primary) {
            Some(span) => Problem::at(&span.file_name, span.line_start, self.message),
            None => Problem::in_file("Cargo.toml", self.message),
        };
        match self.rendered {
            Some(rendered) => problem.detail(without_colour(rendered.trim_end())),
            None => problem,
        }
    }
}

/// The text without the escape sequences that colour it in a terminal.
fn without_colour(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut parts = text.split("\u{1b}[");
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        plain.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compilers_error_becomes_a_problem_with_its_line() {
        let line = r#"{"reason":"compiler-message","message":{"message":"no such name",
            "level":"error","rendered":"\u001b[1merror\u001b[0m: no such name\n","spans":[
            {"file_name":"src/a.rs","line_start":3,"is_primary":false},
            {"file_name":"src/b.rs","line_start":7,"is_primary":true}]}}"#;
        let diagnostic = |line| serde_json::from_str::<Message>(line).unwrap().message;
        let problem = diagnostic(line).unwrap().into_problem();
        assert_eq!(problem.to_string(), "src/b.rs:7: no such name\n    error: no such name");
        assert!(diagnostic(r#"{"reason":"build-finished","success":true}"#).is_none());
    }

    #[test]
    fn a_package_is_named_with_its_version() {
        assert_eq!(package("registry+index#libm@0.2.16").as_deref(), Some("libm 0.2.16"));
        assert_eq!(package("path+file:///book/crates/toy#0.1.0"), None);
    }

    #[test]
    fn cargos_own_failure_is_a_problem_too() {
        let folder = tempfile::tempdir().unwrap();
        let mut cargo = command(folder.path(), &folder.path().join("target"));
        cargo.arg("check").stderr(Stdio::null());
        let problems = run(cargo, "checking").unwrap_err();
        assert!(problems.to_string().starts_with("Cargo.toml: checking failed"), "{problems}");
    }
}
