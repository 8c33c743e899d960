//! What can be wrong with a book, told so that it can be mended: the file, the
//! line, what is wrong, and what to do. Problems are collected and reported
//! together.

use std::fmt;
use std::path::{Path, PathBuf};

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file, relative to the book's root where it lies inside.
    pub file: PathBuf,
    /// The line in it, from 1, where one is to blame.
    pub line: Option<usize>,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// More lines: a difference, or what the compiler said.
    pub detail: Option<String>,
}

impl Problem {
    /// A problem with a line of a file.
    pub fn at(file: impl AsRef<Path>, line: usize, message: impl Into<String>) -> Problem {
        Problem { line: Some(line), ..Problem::in_file(file, message) }
    }

    /// A problem with a file as a whole.
    pub fn in_file(file: impl AsRef<Path>, message: impl Into<String>) -> Problem {
        Problem {
            file: file.as_ref().to_owned(),
            line: None,
            message: message.into(),
            hint: None,
            detail: None,
        }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    /// Adds more lines.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Problem {
        self.detail = Some(detail.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        if let Some(detail) = &self.detail {
            for line in detail.lines() {
                write!(f, "\n    {line}")?;
            }
        }
        Ok(())
    }
}

/// Everything found wrong in one run, in the order of files and lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Takes up one more problem.
    pub fn push(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The problems, in the order of files and lines, each once.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        let mut sorted: Vec<_> = self.0.iter().collect();
        sorted.sort();
        sorted.dedup();
        sorted.into_iter()
    }

    /// `value` if nothing is wrong, else the problems.
    ///
    /// # Errors
    ///
    /// The problems themselves, if there are any.
    pub fn or<T>(self, value: T) -> Result<T, Problems> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Problems {
        Problems(vec![problem])
    }
}

impl FromIterator<Problem> for Problems {
    fn from_iter<I: IntoIterator<Item = Problem>>(problems: I) -> Problems {
        Problems(problems.into_iter().collect())
    }
}

impl Extend<Problem> for Problems {
    fn extend<I: IntoIterator<Item = Problem>>(&mut self, problems: I) {
        self.0.extend(problems);
    }
}

impl IntoIterator for Problems {
    type Item = Problem;
    type IntoIter = std::vec::IntoIter<Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// The known name most like `name`, to ask “did you mean?”; nothing if none is
/// alike.
#[must_use]
pub fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::normalized_damerau_levenshtein(name, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_names_place_fault_and_remedy() {
        let problem = Problem::at("book/src/a.md", 7, "unknown value `a.b`")
            .hint("did you mean `a.c`?")
            .detail("one\ntwo");
        assert_eq!(
            problem.to_string(),
            "book/src/a.md:7: unknown value `a.b`; did you mean `a.c`?\n    one\n    two"
        );
    }

    #[test]
    fn problems_come_sorted_and_once() {
        let mut problems = Problems::from(Problem::at("b.md", 1, "x"));
        problems.extend([
            Problem::at("a.md", 9, "y"),
            Problem::at("b.md", 1, "x"),
            Problem::at("a.md", 2, "z"),
        ]);
        assert_eq!(problems.to_string(), "a.md:2: z\na.md:9: y\nb.md:1: x");
    }

    #[test]
    fn the_closest_name_is_offered_only_if_it_is_close() {
        let known = ["qkv.weights", "qkv.output", "soft.weights"];
        assert_eq!(closest("qkv.wieghts", known), Some("qkv.weights"));
        assert_eq!(closest("temperature", known), None);
    }
}
