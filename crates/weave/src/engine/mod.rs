//! The WebAssembly engine that a book's widgets run: built from one of its
//! crates, kept beside the widgets, and held against the sources it was built
//! from. What the engine computes is its crate's business.

mod fingerprint;
mod toolchain;

use std::path::{Path, PathBuf};

use ledger::replace_file;

use crate::cargo;
use crate::problem::{Problem, Problems};
use crate::project::{Engine, Project};
use fingerprint::Fingerprint;
use toolchain::{TARGET, Toolchain};

/// The profile of the root Cargo.toml that the engine is built with.
const PROFILE: &str = "engine";

/// What a build of the engine made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltEngine {
    /// The file, relative to the book's root.
    pub file: PathBuf,
    /// Its length in bytes.
    pub bytes: usize,
    /// The sources it was built from, by number.
    pub sources: usize,
    /// Which compiler built it, in words.
    pub toolchain: String,
}

/// Builds the engine and puts it, with the fingerprint of its sources, in the
/// place of the old one.
///
/// # Errors
///
/// The book names no engine, no toolchain for WebAssembly is installed, the
/// crate does not compile, or the files cannot be written; the old engine then
/// stands as it was.
pub fn build(project: &Project) -> Result<BuiltEngine, Problems> {
    let engine = settings(project)?;
    let toolchain = Toolchain::find()?;
    let target = project.target().join("engine");
    let mut command = toolchain.command(project.root(), &target);
    command.args(["rustc", "--locked", "--quiet", "--lib", "--crate-type", "cdylib"]);
    command.args(["--package", &engine.package, "--no-default-features"]);
    command.args(["--profile", PROFILE, "--target", TARGET]);
    let compiled = cargo::run(command, "building the engine")?;
    let name = engine.package.replace('-', "_");
    let made = target.join(TARGET).join(PROFILE).join(format!("{name}.wasm"));
    let wasm = std::fs::read(&made).map_err(|error| {
        Problem::in_file(&made, format!("the engine that cargo built cannot be read: {error}"))
    })?;
    let sources = fingerprint::sources(project, &made.with_extension("d"))?;
    let fingerprint = Fingerprint::take(project, &sources, &compiled.packages, &wasm)?;
    write(project, &engine.wasm, &wasm)?;
    write(project, &engine.fingerprint(), fingerprint.to_string().as_bytes())?;
    Ok(BuiltEngine {
        file: engine.wasm.clone(),
        bytes: wasm.len(),
        sources: sources.len(),
        toolchain: toolchain.to_string(),
    })
}

/// Holds the engine that is kept against the sources as they are now. A book
/// without an engine has nothing to hold.
///
/// # Errors
///
/// The engine or its fingerprint is missing, or what it was built from has
/// changed since: each file that has.
pub fn check(project: &Project) -> Result<(), Problems> {
    let Some(engine) = &project.settings().engine else { return Ok(()) };
    let kept = project.read(&engine.fingerprint()).map_err(|problem| problem.hint(REBUILD))?;
    Fingerprint::parse(&kept)
        .map_err(|(line, reason)| {
            Problem::at(engine.fingerprint(), line, reason).hint(REBUILD).into()
        })
        .and_then(|fingerprint| fingerprint.check(project, engine))
}

const REBUILD: &str = "run `cargo book wasm`";

fn settings(project: &Project) -> Result<&Engine, Problem> {
    project.settings().engine.as_ref().ok_or_else(|| {
        Problem::in_file("book.toml", "names no engine").hint(
            "add `engine = { package = \"…\", wasm = \"….wasm\" }` under [preprocessor.weave]",
        )
    })
}

fn write(project: &Project, file: &Path, contents: &[u8]) -> Result<(), Problem> {
    replace_file(&project.root().join(file), contents).map_err(|error| {
        Problem::in_file(file, format!("cannot be written: {error}"))
            .hint("make the folder writable and see that the disk is not full")
    })
}
