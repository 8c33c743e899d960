//! `test` and `bless`: what was computed, printed and rendered, held against
//! what was last accepted, or accepted anew.

use std::path::Path;
use std::thread;
use std::time::Duration;

use ledger::{Difference, Ledger, Lock, Locked, replace_file};
use similar::TextDiff;

use crate::cargo;
use crate::engine;
use crate::problem::{Problem, Problems};
use crate::project::Project;
use crate::site::{self, BuildOptions};
use crate::snippet::Runner;
use crate::weaver::{Quotes, Woven, weave};

/// What was found in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tested {
    /// Values that are as the lock remembers them, claims among them.
    pub values: usize,
    /// Claims that hold.
    pub claims: usize,
    /// Programs that compiled, ran and printed what their chapter shows.
    pub snippets: usize,
    /// Pages that rendered without fault.
    pub pages: usize,
}

/// What a blessing changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blessed {
    /// The names of values that are new, changed or gone.
    pub values: Vec<String>,
    /// The chapters whose printed outputs changed.
    pub chapters: Vec<String>,
}

/// Computes everything anew and compares it: values with the lock, printed
/// output with its fences, the engine with its sources, rendered pages with what
/// pages must be.
///
/// # Errors
///
/// Everything that is not as it was blessed, and everything else found wrong.
pub fn test(project: &Project, ledger: &Ledger) -> Result<Tested, Problems> {
    let woven = weave(project, ledger, project.chapters()?)?;
    let mut problems = lock_problems(project, ledger, &woven.quotes)?;
    problems.extend(engine::check(project).err().into_iter().flatten());
    // The programs compile while the pages render.
    let runner = runner(project)?;
    let (pages, snippets) = thread::scope(|scope| {
        let pages = scope.spawn(|| rendered_pages(project, &woven));
        let snippets = runner.check(&woven.snippets);
        (pages.join(), snippets)
    });
    let pages = pages.unwrap_or_else(|_| {
        Err(Problem::in_file("book.toml", "rendering the pages stopped unexpectedly").into())
    });
    let tested = Tested {
        values: ledger.entries().count(),
        claims: ledger.entries().filter(|entry| entry.value().kind() == "claim").count(),
        snippets: woven.snippets.len(),
        pages: pages.unwrap_or_else(|found| {
            problems.extend(found);
            0
        }),
    };
    problems.extend(snippets.err().into_iter().flatten());
    problems.or(tested)
}

/// The runner for the book's programs: they may use the crates that the
/// settings name, and half a minute.
fn runner(project: &Project) -> Result<Runner, Problems> {
    let crates = cargo::packages(project, &project.settings().snippets, "snippets")?;
    Ok(Runner {
        root: project.root().to_owned(),
        folder: project.target().join("weave-snippets"),
        crates,
        lock: project.root().join("Cargo.lock"),
        timeout: Duration::from_secs(30),
    })
}

fn rendered_pages(project: &Project, woven: &Woven) -> Result<usize, Problems> {
    let options = BuildOptions::default();
    let staging = site::render(project, woven, &options)?;
    site::check(project, woven, staging.path(), options.api)
}

/// Accepts what is computed and printed now: rewrites the lock file and the
/// output fences, each file whole or not at all.
///
/// # Errors
///
/// Everything wrong that no blessing can mend; nothing is then written.
pub fn bless(project: &Project, ledger: &Ledger) -> Result<Blessed, Problems> {
    let woven = weave(project, ledger, project.chapters()?)?;
    let ran = runner(project)?.run(&woven.snippets)?;
    let locked = read_lock(project)?;
    let now = Lock::of(ledger);
    let mut blessed = Blessed {
        values: locked.differences(&now).into_iter().map(|difference| difference.name).collect(),
        chapters: Vec::new(),
    };
    for woven in &woven.chapters {
        let chapter = &woven.chapter;
        let text = crate::snippet::blessed(chapter, &ran);
        if text != chapter.text {
            write(project, &chapter.file, text.as_bytes())?;
            blessed.chapters.push(chapter.file.display().to_string());
        }
    }
    if !blessed.values.is_empty() {
        write(project, &project.settings().lock, now.to_string().as_bytes())?;
    }
    Ok(blessed)
}

fn write(project: &Project, file: &Path, contents: &[u8]) -> Result<(), Problem> {
    replace_file(&project.root().join(file), contents).map_err(|error| {
        Problem::in_file(file, format!("cannot be written: {error}")).hint(
            "it stands as it was; see that its folder can be written to and the disk has room",
        )
    })
}

fn read_lock(project: &Project) -> Result<Lock, Problem> {
    Lock::read(&project.lock()).map_err(|error| {
        let line = error.line;
        Problem { line, ..Problem::in_file(&project.settings().lock, error.reason) }
            .hint("restore the file, or run `cargo book bless` after removing it")
    })
}

/// The names of the values that differ from the lock.
///
/// # Errors
///
/// The lock file cannot be read.
pub fn unblessed(project: &Project, ledger: &Ledger) -> Result<Vec<String>, Problems> {
    let differences = read_lock(project)?.differences(&Lock::of(ledger));
    Ok(differences.into_iter().map(|difference| difference.name).collect())
}

fn lock_problems(
    project: &Project,
    ledger: &Ledger,
    quotes: &Quotes,
) -> Result<Problems, Problems> {
    let differences = read_lock(project)?.differences(&Lock::of(ledger));
    let file = &project.settings().lock;
    Ok(differences.iter().map(|difference| lock_problem(file, difference, quotes)).collect())
}

fn lock_problem(file: &Path, difference: &Difference, quotes: &Quotes) -> Problem {
    let Difference { name, locked, now } = difference;
    let (what, line) = match (locked, now) {
        (None, _) => ("is not in the lock", None),
        (Some(locked), None) => ("is in the lock but is no longer entered", locked.line),
        (Some(locked), Some(_)) => ("is not what the lock remembers", locked.line),
    };
    let text = |side: &Option<Locked>| side.as_ref().map(facts).unwrap_or_default();
    let mut detail = line_difference(&text(locked), &text(now));
    for quote in quotes.get(name).into_iter().flatten() {
        detail.push_str(&format!("quoted at {}:{}\n", quote.file.display(), quote.line));
    }
    Problem { line, ..Problem::in_file(file, format!("`{name}` {what}")) }
        .hint("if that is meant, run `cargo book bless`")
        .detail(detail)
}

fn facts(locked: &Locked) -> String {
    format!("{}\n{}, made by {}\n", locked.shown, locked.kind, locked.maker)
}

/// What changed from one text to the other, line by line.
pub(crate) fn line_difference(before: &str, after: &str) -> String {
    TextDiff::from_lines(before, after)
        .iter_all_changes()
        .map(|change| format!("{} {}\n", change.tag(), change.value().trim_end_matches('\n')))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_shows_both_sides_line_by_line() {
        assert_eq!(line_difference("a\nb\n", "a\nc\n"), "  a\n- b\n+ c\n");
        assert_eq!(line_difference("", "new\n"), "+ new\n");
    }
}
