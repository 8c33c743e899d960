//! `cargo book new`: begins a chapter and blesses it.

use std::env;
use std::process::Command;

use weave::{Project, scaffold};

use crate::Failure;
use crate::report::say;

pub(crate) fn new(project: &Project, name: &str) -> Result<(), Failure> {
    let scaffold = scaffold::chapter(project, name)?;
    for file in [&scaffold.chapter, &scaffold.module] {
        say(&format!("wrote {}", file.display()));
    }
    for file in &scaffold.changed {
        say(&format!("added a line to {}", file.display()));
    }
    say("compiling the new module …");
    bless(project)?;
    say(&format!("now edit {}; `cargo book serve` shows it", scaffold.chapter.display()));
    Ok(())
}

/// The new module is not part of this program: cargo compiles the next one,
/// which blesses.
fn bless(project: &Project) -> Result<(), Failure> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--package", env!("CARGO_PKG_NAME"), "--", "bless"])
        .current_dir(project.root())
        .status()
        .map_err(|error| Failure::Environment(format!("cargo cannot be run: {error}")))?;
    if status.success() {
        return Ok(());
    }
    say("the chapter is begun but not blessed; mend what is wrong, then run `cargo book bless`");
    Err(Failure::Told)
}
