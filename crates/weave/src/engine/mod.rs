//! The WebAssembly engines that a book's widgets run: each built from one of its
//! crates, kept beside the widgets, and held against the sources it was built
//! from. What an engine computes is its crate's business.

mod fingerprint;
mod toolchain;

use std::path::{Path, PathBuf};

use ledger::replace_file;

use crate::cargo;
use crate::problem::{Problem, Problems};
use crate::project::{Engine, Project};
use fingerprint::Fingerprint;
use toolchain::{TARGET, Toolchain};

/// The profile of the root Cargo.toml that engines are built with.
const PROFILE: &str = "engine";

/// What a build of an engine made.
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

/// Builds every engine and puts each, with the fingerprint of its sources, in the
/// place of the old one.
///
/// # Errors
///
/// The book names no engine, no toolchain for WebAssembly is installed, a crate
/// does not compile, or the files cannot be written. Nothing is written before
/// all are built, so the old engines then stand as they were.
pub fn build(project: &Project) -> Result<Vec<BuiltEngine>, Problems> {
    let engines = &project.settings().engines;
    if engines.is_empty() {
        return Err(Problem::in_file("book.toml", "names no engine")
            .hint(
                "add `engines = [{ package = \"…\", wasm = \"….wasm\" }]` under \
                 [preprocessor.weave]",
            )
            .into());
    }
    let toolchain = Toolchain::find()?;
    let compiled = engines.iter().map(|engine| compile(project, engine, &toolchain));
    let compiled = compiled.collect::<Result<Vec<_>, _>>()?;
    engines.iter().zip(compiled).map(|(engine, made)| keep(project, engine, made)).collect()
}

/// An engine that was compiled and is not kept yet.
struct Compiled {
    wasm: Vec<u8>,
    fingerprint: Fingerprint,
    built: BuiltEngine,
}

fn compile(
    project: &Project,
    engine: &Engine,
    toolchain: &Toolchain,
) -> Result<Compiled, Problems> {
    let target = project.target().join("engine");
    let mut command = toolchain.command(project.root(), &target);
    command.args(["rustc", "--locked", "--quiet", "--lib", "--crate-type", "cdylib"]);
    command.args(["--package", &engine.package, "--no-default-features"]);
    command.args(["--features", &engine.features.join(",")]);
    command.args(["--profile", PROFILE, "--target", TARGET]);
    let compiled = cargo::run(command, "building an engine")?;
    let name = engine.package.replace('-', "_");
    let made = target.join(TARGET).join(PROFILE).join(format!("{name}.wasm"));
    let wasm = std::fs::read(&made).map_err(|error| {
        Problem::in_file(&made, format!("the engine that cargo built cannot be read: {error}"))
    })?;
    let sources = fingerprint::sources(project, &made.with_extension("d"))?;
    let fingerprint = Fingerprint::take(project, &sources, &compiled.packages, &wasm)?;
    let built = BuiltEngine {
        file: engine.wasm.clone(),
        bytes: wasm.len(),
        sources: sources.len(),
        toolchain: toolchain.to_string(),
    };
    Ok(Compiled { wasm, fingerprint, built })
}

fn keep(project: &Project, engine: &Engine, made: Compiled) -> Result<BuiltEngine, Problems> {
    write(project, &engine.wasm, &made.wasm)?;
    write(project, &engine.fingerprint(), made.fingerprint.to_string().as_bytes())?;
    Ok(made.built)
}

/// Holds the engines that are kept against the sources as they are now. A book
/// without an engine has nothing to hold.
///
/// # Errors
///
/// An engine or its fingerprint is missing, or what it was built from has
/// changed since: each file that has.
pub fn check(project: &Project) -> Result<(), Problems> {
    let engines = project.settings().engines.iter();
    let told = engines.filter_map(|engine| check_one(project, engine).err()).flatten();
    told.collect::<Problems>().or(())
}

fn check_one(project: &Project, engine: &Engine) -> Result<(), Problems> {
    let kept = project.read(&engine.fingerprint()).map_err(|problem| problem.hint(REBUILD))?;
    Fingerprint::parse(&kept)
        .map_err(|(line, reason)| {
            Problem::at(engine.fingerprint(), line, reason).hint(REBUILD).into()
        })
        .and_then(|fingerprint| fingerprint.check(project, engine))
}

const REBUILD: &str = "run `cargo book wasm`";

fn write(project: &Project, file: &Path, contents: &[u8]) -> Result<(), Problem> {
    replace_file(&project.root().join(file), contents).map_err(|error| {
        Problem::in_file(file, format!("cannot be written: {error}"))
            .hint("make the folder writable and see that the disk is not full")
    })
}
