//! PyTorch and NumPy, in a Python process of their own that is told in lines of
//! JSON what to prepare and when to run. It times itself, so that talking to it
//! costs nothing.

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

use super::Contestant;
use crate::cases::Case;

/// The program that the process runs.
const PROGRAM: &str = include_str!("peers.py");

/// A Python process with PyTorch and NumPy.
pub(crate) struct Python {
    process: RefCell<Process>,
    torch: String,
    numpy: String,
}

struct Process {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

#[derive(Serialize)]
#[serde(tag = "ask", rename_all = "lowercase")]
enum Request<'a> {
    Versions { threads: usize },
    Prepare { peer: &'a str, case: Case },
    Run { peer: &'a str },
    Product { size: usize },
}

#[derive(Deserialize)]
struct Versions {
    torch: String,
    numpy: String,
}

#[derive(Deserialize)]
struct Prepared {
    ready: bool,
}

#[derive(Deserialize)]
struct Ran {
    seconds: f64,
}

impl Python {
    /// Starts the process and learns what is installed.
    pub(crate) fn start(program: &Path, threads: usize) -> Result<Python> {
        let mut child = Command::new(program)
            .args(["-c", PROGRAM])
            // Each of its threads on a core of its own, as ours are.
            .env("OMP_PROC_BIND", "true")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} cannot be run", program.display()))?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("{} has no standard input and output", program.display());
        };
        let mut process = Process { child, requests, answers: BufReader::new(answers) };
        let Versions { torch, numpy } =
            process.ask(&Request::Versions { threads }).with_context(|| {
                format!("{} does not answer; has it PyTorch and NumPy?", program.display())
            })?;
        Ok(Python { process: RefCell::new(process), torch, numpy })
    }

    /// The contestants that live in the process.
    pub(crate) fn contestants(&self) -> Vec<Box<dyn Contestant + '_>> {
        let peer = |name, peer, most| {
            Box::new(Peer { python: self, name, peer, most }) as Box<dyn Contestant>
        };
        vec![
            peer("PyTorch", "sdpa", f64::INFINITY),
            peer("PyTorch, line by line", "lines", 5e9),
            peer("NumPy", "numpy", 5e9),
        ]
    }

    /// How long the machine's own product of two large square matrices takes.
    pub(crate) fn product(&self, size: usize) -> Result<Duration> {
        self.time(&Request::Product { size })
    }

    fn time(&self, request: &Request) -> Result<Duration> {
        let Ran { seconds } = self.process.borrow_mut().ask(request)?;
        Ok(Duration::try_from_secs_f64(seconds)?)
    }
}

impl Process {
    fn ask<A: for<'a> Deserialize<'a>>(&mut self, request: &Request) -> Result<A> {
        writeln!(self.requests, "{}", serde_json::to_string(request)?)?;
        self.requests.flush()?;
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            bail!("the Python process ended; see what it said above");
        }
        serde_json::from_str(&line).with_context(|| format!("Python answered: {}", line.trim()))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It ends by itself when nobody asks any more; this is for a stuck one.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One contestant of the process.
struct Peer<'a> {
    python: &'a Python,
    name: &'static str,
    peer: &'static str,
    /// The most operations of a case that it takes part in.
    most: f64,
}

impl Contestant for Peer<'_> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn version(&self) -> String {
        if self.peer == "numpy" { self.python.numpy.clone() } else { self.python.torch.clone() }
    }

    fn takes_part(&self, case: Case) -> bool {
        // NumPy has neither gradients nor numbers of this type.
        let knows = self.peer != "numpy" || !case.gradient && !case.bf16;
        case.operations() <= self.most && knows
    }

    fn prepare(&mut self, case: Case) -> Result<()> {
        let request = Request::Prepare { peer: self.peer, case };
        let Prepared { ready } = self.python.process.borrow_mut().ask(&request)?;
        if ready { Ok(()) } else { bail!("{} is not ready", self.name) }
    }

    fn run(&mut self) -> Result<Duration> {
        self.python.time(&Request::Run { peer: self.peer })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_no_python_is_named() {
        let error = Python::start(Path::new("no-such-python"), 1).err().unwrap();
        assert_eq!(error.to_string(), "no-such-python cannot be run");
        let error = Python::start(Path::new("true"), 1).err().unwrap();
        assert_eq!(error.to_string(), "true does not answer; has it PyTorch and NumPy?");
    }
}
