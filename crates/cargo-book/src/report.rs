//! What the terminal is told. Everything goes to standard error, for a
//! preprocessor's standard output is mdBook's; colours only where a person sees
//! them.

use std::time::Instant;

use anstream::eprintln;
use anstyle::{AnsiColor, Style};
use weave::Problems;

use crate::counted;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const DONE: Style = AnsiColor::Green.on_default();

/// A piece of work that takes its time.
pub(crate) struct Step(Instant);

impl Step {
    pub(crate) fn begin(doing: &str) -> Step {
        eprintln!("{doing} …");
        Step(Instant::now())
    }

    pub(crate) fn end(self, done: &str) {
        let seconds = self.0.elapsed().as_secs_f64();
        eprintln!("{DONE}{done}{DONE:#} ({seconds:.1} s)");
    }
}

pub(crate) fn say(text: &str) {
    eprintln!("{text}");
}

pub(crate) fn error(message: &str) {
    eprintln!("{ERROR}error:{ERROR:#} {message}");
}

/// All problems and their number.
pub(crate) fn problems(problems: &Problems) {
    for problem in problems.iter() {
        error(&problem.to_string());
    }
    let count = counted(problems.iter().count(), "problem");
    eprintln!("{ERROR}the book has {count}{ERROR:#}");
}
