//! Compiles all snippets of a book as one program and runs them one by one.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::build::{Built, build};
use super::execute::execute;
use super::program::{Package, Part, parts};
use super::{Expectation, Snippet, differences};
use crate::problem::{Problem, Problems};

/// Compiles and runs snippets. What was compiled is kept in a folder: a book
/// that has not changed compiles nothing, a changed chapter its own snippets.
#[derive(Clone, Debug)]
pub struct Runner {
    /// The book's root, in which snippets run.
    pub root: PathBuf,
    /// The folder for the generated program, which nothing else writes to.
    pub folder: PathBuf,
    /// The crates that snippets may use: the package's name, and its folder
    /// relative to the root.
    pub crates: Vec<(String, PathBuf)>,
    /// The book's Cargo.lock, so that snippets see the versions the book uses.
    pub lock: PathBuf,
    /// How long a snippet may run.
    pub timeout: Duration,
}

/// A snippet that ran as it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The chapter's file, relative to the book's root.
    pub file: PathBuf,
    /// The line of the snippet's opening backticks.
    pub line: usize,
    /// What it printed.
    pub stdout: String,
}

impl Ran {
    pub(super) fn is_of(&self, snippet: &Snippet) -> bool {
        self.file == snippet.file && self.line == snippet.line
    }
}

impl Runner {
    /// Compiles and runs the snippets, and returns what each of them printed,
    /// right or not.
    ///
    /// # Errors
    ///
    /// Every snippet that does not compile, panics, fails or does not end; or
    /// that the program could not be written or compiled at all.
    pub fn run(&self, snippets: &[Snippet]) -> Result<Vec<Ran>, Problems> {
        let (ran, problems) = self.try_all(snippets);
        problems.or(ran)
    }

    /// Compiles and runs the snippets, and compares what they print with their
    /// output fences.
    ///
    /// # Errors
    ///
    /// As for [`run`](Runner::run), and every output fence that holds something
    /// else; all of them together.
    pub fn check(&self, snippets: &[Snippet]) -> Result<Vec<Ran>, Problems> {
        let (ran, mut problems) = self.try_all(snippets);
        problems.extend(differences(snippets, &ran));
        problems.or(ran)
    }

    fn try_all(&self, snippets: &[Snippet]) -> (Vec<Ran>, Problems) {
        let parts = parts(snippets);
        let mut problems = Problems::default();
        let ran = match self.compile(&parts, &mut problems) {
            Ok(Some(compiled)) => self.execute_all(&compiled, &mut problems),
            Ok(None) => Vec::new(),
            Err(worse) => {
                problems.extend(worse);
                Vec::new()
            }
        };
        (ran, problems)
    }

    /// Compiles the parts. Those with errors are left out and the rest compiled
    /// again, because rustc does not look for the errors of a later stage while
    /// there are some of an earlier one.
    fn compile<'a>(
        &self,
        parts: &[Part<'a>],
        problems: &mut Problems,
    ) -> Result<Option<Compiled<'a>>, Problems> {
        if parts.is_empty() {
            return Ok(None);
        }
        let package = Package::open(&self.folder)?;
        package.write(self, parts)?;
        let mut parts = parts.to_vec();
        while !parts.is_empty() {
            package.write_root(parts.iter())?;
            match build(&package.folder, &parts)? {
                Built::Program(program) => {
                    return Ok(Some(Compiled { program, parts, _package: package }));
                }
                Built::Faulty { parts: faulty, problems: found } => {
                    problems.extend(found);
                    let mut index = 0..;
                    parts.retain(|_| index.next().is_some_and(|index| !faulty.contains(&index)));
                }
            }
        }
        Ok(None)
    }

    /// Runs the parts, as many at a time as there are processors.
    fn execute_all(&self, compiled: &Compiled<'_>, problems: &mut Problems) -> Vec<Ran> {
        let parts: Vec<_> = compiled
            .parts
            .iter()
            .filter(|part| part.snippet.expectation != Expectation::NoRun)
            .collect();
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::new());
        let work = || {
            while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                let result = execute(&compiled.program, part, &self.root, self.timeout);
                results.lock().unwrap_or_else(PoisonError::into_inner).push((part, result));
            }
        };
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(work);
            }
        });
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut ran: Vec<_> =
            results.into_iter().filter_map(|(part, result)| keep(part, result, problems)).collect();
        ran.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        ran
    }
}

/// The program with the snippets in it. Other runs wait until this one is done
/// with it.
struct Compiled<'a> {
    program: PathBuf,
    parts: Vec<Part<'a>>,
    _package: Package,
}

fn keep(part: &Part<'_>, result: Result<String, Problem>, problems: &mut Problems) -> Option<Ran> {
    let Snippet { file, line, .. } = part.snippet;
    match result {
        Ok(stdout) => Some(Ran { file: file.clone(), line: *line, stdout }),
        Err(problem) => {
            problems.push(problem);
            None
        }
    }
}
