//! Compiles the program that serves, while it serves.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use super::Compiled;
use crate::cargo;
use crate::problem::Problems;
use crate::project::Project;

/// Compiles a package whose program lies at `program`, in the profile of that
/// program, and says whether it is another program now. Cargo's progress is
/// shown in the terminal.
///
/// # Errors
///
/// What the compiler found wrong.
pub fn compile(project: &Project, package: &str, program: &Path) -> Result<Compiled, Problems> {
    let before = made_at(program);
    let mut command = cargo::command(project.root(), project.target());
    command.args(["build", "--package", package, "--profile", profile(program)]);
    cargo::run(command, "compiling")?;
    Ok(if made_at(program) == before { Compiled::Same } else { Compiled::Changed })
}

fn made_at(program: &Path) -> Option<SystemTime> {
    fs::metadata(program).and_then(|metadata| metadata.modified()).ok()
}

/// Cargo names a profile's folder after it, but for the one for developing.
fn profile(program: &Path) -> &str {
    match program.parent().and_then(Path::file_name).and_then(OsStr::to_str) {
        None | Some("debug") => "dev",
        Some(name) => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_tells_the_profile() {
        assert_eq!(profile(Path::new("/x/target/debug/cargo-book")), "dev");
        assert_eq!(profile(Path::new("/x/target/release/cargo-book")), "release");
    }
}
