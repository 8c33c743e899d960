//! Runs one snippet in a process of its own, and judges how it ended.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use wait_timeout::ChildExt;

use super::Expectation;
use super::program::{Part, SELECTOR};
use crate::problem::Problem;

/// More than any page would show.
const MOST_OUTPUT: u64 = 1 << 20;

/// How a process ended: nothing for the status if its time was up.
struct Ended {
    status: Option<ExitStatus>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// Runs the snippet and returns what it printed.
pub(super) fn execute(
    program: &Path,
    part: &Part<'_>,
    folder: &Path,
    timeout: Duration,
) -> Result<String, Problem> {
    let snippet = part.snippet;
    let at_fence = |message: String| Problem::at(&snippet.file, snippet.line, message);
    let ended = run(program, &part.module, folder, timeout)
        .map_err(|error| at_fence(format!("the snippet cannot be started: {error}")))?;
    if ended.stdout.len() as u64 > MOST_OUTPUT {
        return Err(at_fence(format!("the snippet prints more than {MOST_OUTPUT} bytes")));
    }
    let Some(status) = ended.status else {
        let message = format!("the snippet has not ended after {} s", timeout.as_secs_f64());
        return Err(at_fence(message).hint("look for a loop or a wait without an end"));
    };
    let stderr = String::from_utf8_lossy(&ended.stderr);
    let panic = Panic::find(&stderr, part);
    match (snippet.expectation, panic.filter(|_| !status.success())) {
        (Expectation::ShouldPanic, Some(_)) => {}
        (Expectation::ShouldPanic, None) => {
            return Err(at_fence("the snippet should panic, and does not".to_owned())
                .hint("take away `should_panic` if it is right so"));
        }
        (_, Some(panic)) => {
            let line = panic.line.unwrap_or(snippet.line);
            let message = format!("the snippet panics: {}", panic.message);
            return Err(Problem::at(&snippet.file, line, message).detail(panic.said));
        }
        (_, None) if !status.success() => {
            return Err(
                at_fence(format!("the snippet fails with {status}")).detail(stderr.trim_end())
            );
        }
        _ => {}
    }
    String::from_utf8(ended.stdout)
        .map_err(|_| at_fence("the snippet prints what is not UTF-8".to_owned()))
}

fn run(program: &Path, module: &str, folder: &Path, timeout: Duration) -> io::Result<Ended> {
    let mut child = Command::new(program)
        .env(SELECTOR, module)
        .env("RUST_BACKTRACE", "1")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        // A full pipe would stop the snippet: both are read while it runs.
        let stdout = scope.spawn(|| read(stdout));
        let stderr = scope.spawn(|| read(stderr));
        let status = child.wait_timeout(timeout)?;
        if status.is_none() {
            child.kill()?;
            child.wait()?;
        }
        let joined = |bytes: thread::Result<Vec<u8>>| bytes.unwrap_or_default();
        Ok(Ended { status, stdout: joined(stdout.join()), stderr: joined(stderr.join()) })
    })
}

/// What comes out of a pipe, up to a little more than is allowed; then the pipe
/// is closed.
fn read(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // What was read before an error is still what was printed.
        drop(pipe.take(MOST_OUTPUT + 1).read_to_end(&mut bytes));
    }
    bytes
}

/// A panic as the standard library reports it.
struct Panic {
    /// The first line of its message.
    message: String,
    /// The chapter's line, where the panic or the call that led to it stands.
    line: Option<usize>,
    /// Everything the snippet said on its standard error, backtraces left out.
    said: String,
}

impl Panic {
    /// The last panic that was reported.
    fn find(stderr: &str, part: &Part<'_>) -> Option<Panic> {
        const MARK: &str = " panicked at ";
        let report = &stderr[stderr.rfind(MARK)? + MARK.len()..];
        let message = report.lines().nth(1).unwrap_or_default().to_owned();
        // A panic in a library is blamed on the call in the chapter, which is
        // the innermost frame of the backtrace that lies there.
        let here = format!("{}:", part.file);
        let line = report.split(&here).nth(1).and_then(|rest| rest.split(':').next()?.parse().ok());
        let chapter = part.snippet.file.to_string_lossy();
        let said = without_backtraces(stderr).replace(&part.file, &chapter);
        Some(Panic { message, line, said })
    }
}

fn without_backtraces(stderr: &str) -> String {
    let mut said = Vec::new();
    let mut in_backtrace = false;
    for line in stderr.lines() {
        if line == "stack backtrace:" {
            in_backtrace = true;
        } else if in_backtrace {
            // Frames are indented; the note behind them ends the backtrace.
            in_backtrace = line.starts_with(' ');
            if !in_backtrace && !line.starts_with("note: ") {
                said.push(line);
            }
        } else {
            said.push(line);
        }
    }
    said.join("\n")
}
