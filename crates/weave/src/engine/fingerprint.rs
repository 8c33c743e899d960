//! The fingerprint of an engine: a digest of every source that it was built
//! from, the versions of the crates it holds, and a digest of the engine
//! itself. A text made for reading in diffs, one line each.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::REBUILD;
use crate::problem::{Problem, Problems};
use crate::project::{Engine, Project};

const HEADING: &str = "\
# What the engine beside this file was built from, and the engine itself.
# Written by `cargo book wasm`, which builds it; don't edit the lines.
";

/// What an engine was built from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fingerprint {
    engine: String,
    sources: BTreeMap<PathBuf, String>,
    packages: BTreeSet<String>,
}

impl Fingerprint {
    /// The fingerprint of an engine just built. Of the packages compiled for it
    /// those count that Cargo.lock pins; the others come with the compiler.
    pub(super) fn take(
        project: &Project,
        sources: &[PathBuf],
        packages: &BTreeSet<String>,
        wasm: &[u8],
    ) -> Result<Fingerprint, Problems> {
        let digests = sources.iter().map(|file| Ok((file.clone(), text_digest(project, file)?)));
        Ok(Fingerprint {
            engine: digest(wasm),
            sources: digests.collect::<Result<_, Problem>>()?,
            packages: packages.intersection(&pinned(project)?).cloned().collect(),
        })
    }

    /// Reads a fingerprint; an error has its line.
    pub(super) fn parse(text: &str) -> Result<Fingerprint, (usize, String)> {
        let mut fingerprint = Fingerprint::default();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
            let mut words = line.splitn(3, ' ');
            match [(); 3].map(|()| words.next()) {
                [Some("engine"), Some(digest), None] => fingerprint.engine = digest.to_owned(),
                [Some("source"), Some(digest), Some(file)] => {
                    fingerprint.sources.insert(file.into(), digest.to_owned());
                }
                [Some("crate"), Some(name), Some(version)] => {
                    fingerprint.packages.insert(format!("{name} {version}"));
                }
                _ => return Err((index + 1, "is no line of a fingerprint".to_owned())),
            }
        }
        Ok(fingerprint)
    }

    /// Holds the engine, its sources and its crates against this fingerprint.
    pub(super) fn check(&self, project: &Project, engine: &Engine) -> Result<(), Problems> {
        let mut problems = Problems::default();
        match fs::read(project.root().join(&engine.wasm)) {
            Ok(wasm) if digest(&wasm) == self.engine => {}
            Ok(_) => problems.push(stale(&engine.wasm, "is not the engine that was built")),
            Err(error) => {
                problems.push(stale(&engine.wasm, &format!("cannot be read: {error}")));
            }
        }
        for (file, known) in &self.sources {
            match text_digest(project, file) {
                Ok(now) if now == *known => {}
                Ok(_) => problems.push(stale(file, "has changed since the engine was built")),
                Err(_) => problems.push(stale(file, "was part of the engine and is gone")),
            }
        }
        let pinned = pinned(project)?;
        for package in self.packages.difference(&pinned) {
            let message = format!("the engine was built with {package}, which is not pinned now");
            problems.push(stale(Path::new("Cargo.lock"), &message));
        }
        problems.or(())
    }
}

fn stale(file: &Path, message: &str) -> Problem {
    Problem::in_file(file, message).hint(REBUILD)
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEADING)?;
        writeln!(f, "engine {}", self.engine)?;
        for package in &self.packages {
            writeln!(f, "crate {package}")?;
        }
        for (file, digest) in &self.sources {
            writeln!(f, "source {digest} {}", file.display())?;
        }
        Ok(())
    }
}

/// The sources that went into an engine: those that cargo's dep-info names and
/// that lie in the book's folder, and the manifests of their crates.
pub(super) fn sources(project: &Project, dep_info: &Path) -> Result<Vec<PathBuf>, Problem> {
    let text = fs::read_to_string(dep_info).map_err(|error| {
        Problem::in_file(dep_info, format!("cargo's list of sources cannot be read: {error}"))
    })?;
    let mut sources: BTreeSet<PathBuf> = named_in(&text)
        .into_iter()
        .filter_map(|file| {
            let file = project.root().join(file);
            file.strip_prefix(project.root()).ok().map(Path::to_owned)
        })
        .filter(|file| !project.root().join(file).starts_with(project.target()))
        .collect();
    let manifests: Vec<PathBuf> = sources
        .iter()
        .filter_map(|file| {
            let mut folders = file.ancestors().skip(1);
            let manifest = folders.find_map(|folder| {
                let manifest = folder.join("Cargo.toml");
                project.root().join(&manifest).is_file().then_some(manifest)
            });
            manifest.filter(|manifest| manifest.parent() != Some(Path::new("")))
        })
        .collect();
    sources.extend(manifests);
    Ok(sources.into_iter().collect())
}

/// The files behind the colon of a dep-info line; a space in a name has a
/// backslash before it.
fn named_in(dep_info: &str) -> Vec<PathBuf> {
    let files = dep_info.split_once(": ").map_or("", |(_, files)| files);
    let files = files.lines().next().unwrap_or_default().replace("\\ ", "\0");
    files.split_whitespace().map(|file| file.replace('\0', " ").into()).collect()
}

/// The digest of a text, the same whatever its line ends.
fn text_digest(project: &Project, file: &Path) -> Result<String, Problem> {
    Ok(digest(project.read(file)?.replace("\r\n", "\n").as_bytes()))
}

/// SHA-256, as sixty-four hexadecimal digits.
fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[derive(Deserialize)]
struct CargoLock {
    package: Vec<Pinned>,
}

#[derive(Deserialize)]
struct Pinned {
    name: String,
    version: String,
    source: Option<String>,
}

/// The crates from a registry that Cargo.lock pins: `ndarray 0.17.1`.
fn pinned(project: &Project) -> Result<BTreeSet<String>, Problem> {
    const FILE: &str = "Cargo.lock";
    let lock: CargoLock = toml::from_str(&project.read(Path::new(FILE))?)
        .map_err(|error| Problem::in_file(FILE, error.message().trim()))?;
    let from_registry = lock.package.into_iter().filter(|package| package.source.is_some());
    Ok(from_registry.map(|package| format!("{} {}", package.name, package.version)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that holds a book with an engine of two sources.
    fn book() -> (tempfile::TempDir, Project) {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            "book.toml",
            "[build]\nbuild-dir = \"target/book\"\n[preprocessor.weave]\n\
             engines = [{ package = \"toy\", wasm = \"src/toy.wasm\" }]\n",
        );
        write("Cargo.lock", &lock("1.2.0"));
        write("src/toy.wasm", "\0asm");
        write("toy/Cargo.toml", "[package]\nname = \"toy\"\n");
        write("toy/src/lib.rs", "pub fn one() {}\n");
        let project = Project::open(folder.path()).unwrap();
        (folder, project)
    }

    fn lock(version: &str) -> String {
        let package = |name: &str, version: &str, source: &str| {
            format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{source}\n")
        };
        format!(
            "version = 4\n{}{}",
            package("sums", version, "source = \"registry\""),
            package("toy", "0.1.0", "")
        )
    }

    fn taken(project: &Project) -> Fingerprint {
        let dep_info = project.root().join("toy.d");
        let lib = project.root().join("toy/src/lib.rs");
        fs::write(&dep_info, format!("toy.wasm: {} /elsewhere/std.rs\n", lib.display())).unwrap();
        let sources = sources(project, &dep_info).unwrap();
        assert_eq!(sources, [Path::new("toy/Cargo.toml"), Path::new("toy/src/lib.rs")]);
        let packages = ["sums 1.2.0", "std 0.0.0"].map(str::to_owned).into();
        Fingerprint::take(project, &sources, &packages, b"\0asm").unwrap()
    }

    fn told(project: &Project, fingerprint: &Fingerprint) -> String {
        let engine = &project.settings().engines[0];
        fingerprint
            .check(project, engine)
            .map_or_else(|problems| problems.to_string(), |()| String::new())
    }

    #[test]
    fn an_engine_fits_its_sources_until_one_changes() {
        let (_folder, project) = book();
        let fingerprint = taken(&project);
        assert_eq!(fingerprint.packages, ["sums 1.2.0".to_owned()].into());
        assert_eq!(told(&project, &fingerprint), "");

        let change = |file: &str, text: &str| fs::write(project.root().join(file), text).unwrap();
        change("toy/src/lib.rs", "pub fn one() {}\r\n");
        assert_eq!(told(&project, &fingerprint), "", "line ends are not a change");
        change("toy/src/lib.rs", "pub fn two() {}\n");
        assert_eq!(
            told(&project, &fingerprint).trim(),
            "toy/src/lib.rs: has changed since the engine was built; run `cargo book wasm`"
        );
        fs::remove_file(project.root().join("toy/src/lib.rs")).unwrap();
        assert!(
            told(&project, &fingerprint).contains("lib.rs: was part of the engine and is gone")
        );
    }

    #[test]
    fn another_engine_or_another_crate_is_noticed() {
        let (_folder, project) = book();
        let fingerprint = taken(&project);
        fs::write(project.root().join("src/toy.wasm"), "\0asm!").unwrap();
        fs::write(project.root().join("Cargo.lock"), lock("1.3.0")).unwrap();
        let told = told(&project, &fingerprint);
        assert!(told.contains("src/toy.wasm: is not the engine that was built"), "{told}");
        assert!(told.contains("Cargo.lock: the engine was built with sums 1.2.0"), "{told}");
    }

    #[test]
    fn what_is_written_is_read_again_and_a_broken_line_is_named() {
        let (_folder, project) = book();
        let fingerprint = taken(&project);
        assert_eq!(Fingerprint::parse(&fingerprint.to_string()), Ok(fingerprint));
        let (line, _) = Fingerprint::parse("# heading\nengine 12\nsauce 34 x\n").unwrap_err();
        assert_eq!(line, 3);
    }

    #[test]
    fn names_with_spaces_are_read_whole() {
        assert_eq!(named_in("a.wasm: b\\ c.rs d.rs\n"), [Path::new("b c.rs"), Path::new("d.rs")]);
    }
}
