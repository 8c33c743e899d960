//! `cargo book bench`: hands over to the program that measures, which must be
//! compiled for speed.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::Failure;

/// What the measuring program is told.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A Python with PyTorch and NumPy; without one they are left out
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
    /// Leave candle-nn out, which saves minutes of compiling
    #[arg(long)]
    without_candle: bool,
    /// How often each contestant runs in each case
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=99))]
    runs: u32,
    /// How many threads each may use; all cores without it
    #[arg(long)]
    threads: Option<usize>,
    /// Only the cases whose name holds this, such as `H8`, `gradient`, `bf16` or `ladder`;
    /// a file is recorded only if all of its cases were run
    #[arg(long, value_name = "PART")]
    only: Option<String>,
}

/// Compiles and runs the measuring program in the book's folder.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<(), Failure> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--release", "--quiet", "--package", "measure"]).current_dir(root);
    if !arguments.without_candle {
        command.args(["--features", "candle"]);
    }
    command.args(["--", "--runs", &arguments.runs.to_string()]);
    if let Some(python) = &arguments.python {
        command.arg("--python").arg(from_here(python)?);
    }
    if let Some(threads) = arguments.threads {
        command.args(["--threads", &threads.to_string()]);
    }
    if let Some(only) = &arguments.only {
        command.args(["--only", only]);
    }
    let status = command
        .status()
        .map_err(|error| Failure::Environment(format!("cargo cannot be run: {error}")))?;
    if status.success() { Ok(()) } else { Err(Failure::Told) }
}

/// A program as the shell would find it from the folder we are in: one with a
/// slash is a path, and the measuring program runs in another folder.
fn from_here(program: &Path) -> Result<PathBuf, Failure> {
    if program.components().count() < 2 {
        return Ok(program.to_owned());
    }
    std::path::absolute(program)
        .map_err(|error| Failure::Environment(format!("{}: {error}", program.display())))
}
