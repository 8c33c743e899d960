//! How the building stands, as the open pages are told it.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use tokio::sync::watch;

use crate::problem::{Problem, Problems};

/// Holds the current status and tells everyone who listens when it changes.
pub(super) struct Board(watch::Sender<Status>);

/// What of the building can have problems besides the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The Rust code.
    Code,
    /// What is made in the background.
    Rest,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Status {
    /// What is being done now.
    activity: Option<&'static str>,
    /// How often the pages were woven.
    woven: u64,
    pages: Problems,
    code: Problems,
    rest: Problems,
}

/// The status in the form that `live.js` reads.
#[derive(Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
enum Message {
    Building { activity: &'static str },
    Ready { generation: String, problems: Vec<Shown> },
    Error { problems: Vec<Shown> },
}

#[derive(Serialize)]
struct Shown {
    place: String,
    message: String,
    hint: Option<String>,
    detail: Option<String>,
}

impl Default for Board {
    fn default() -> Board {
        Board(watch::Sender::new(Status {
            activity: Some("Weaving the pages"),
            ..Status::default()
        }))
    }
}

impl Board {
    pub(super) fn begin(&self, activity: &'static str) {
        self.0.send_modify(|status| status.activity = Some(activity));
    }

    /// The pages were woven, or could not be.
    pub(super) fn woven(&self, result: Result<(), Problems>) {
        self.0.send_modify(|status| {
            status.activity = None;
            status.woven += u64::from(result.is_ok());
            status.pages = result.err().unwrap_or_default();
        });
    }

    /// Another stage is done. The background work is no news where it changes
    /// nothing.
    pub(super) fn done(&self, stage: Stage, result: Result<(), Problems>) {
        let problems = result.err().unwrap_or_default();
        self.0.send_if_modified(|status| match stage {
            Stage::Code => {
                status.activity = None;
                status.code = problems;
                true
            }
            Stage::Rest => {
                let before = std::mem::replace(&mut status.rest, problems);
                status.rest != before
            }
        });
    }

    pub(super) fn listen(&self) -> watch::Receiver<Status> {
        self.0.subscribe()
    }

    pub(super) fn now(&self) -> Status {
        self.0.borrow().clone()
    }
}

impl Status {
    /// Names the pages as last woven; no other run of the program gives the same
    /// name.
    pub(super) fn generation(&self) -> String {
        static START: std::sync::LazyLock<u128> = std::sync::LazyLock::new(|| {
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos())
        });
        format!("{:x}-{}", *START, self.woven)
    }

    /// Everything wrong, most pressing first.
    pub(super) fn problems(&self) -> impl Iterator<Item = &Problem> {
        [&self.code, &self.pages, &self.rest].into_iter().flat_map(Problems::iter)
    }

    pub(super) fn json(&self) -> String {
        let problems = self.problems().map(shown).collect();
        let message = match self.activity {
            Some(activity) => Message::Building { activity },
            None if self.pages.is_empty() => {
                Message::Ready { generation: self.generation(), problems }
            }
            None => Message::Error { problems },
        };
        serde_json::to_string(&message).unwrap_or_default()
    }
}

fn shown(problem: &Problem) -> Shown {
    let file = problem.file.display();
    Shown {
        place: problem.line.map_or_else(|| file.to_string(), |line| format!("{file}:{line}")),
        message: problem.message.clone(),
        hint: problem.hint.clone(),
        detail: problem.detail.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(message: &str) -> Problems {
        Problem::at("a.md", 3, message).hint("mend it").into()
    }

    #[test]
    fn the_status_follows_the_building() {
        let board = Board::default();
        let state = || {
            let json: serde_json::Value = serde_json::from_str(&board.now().json()).unwrap();
            (json["state"].as_str().unwrap().to_owned(), json["problems"].clone())
        };
        assert_eq!(state().0, "building");
        board.woven(Err(problem("wrong")));
        let (name, problems) = state();
        assert_eq!(name, "error");
        assert_eq!(problems[0]["place"], "a.md:3");
        assert_eq!(problems[0]["hint"], "mend it");
        board.begin("Weaving");
        assert_eq!(state().0, "building");
        board.woven(Ok(()));
        assert_eq!(state(), ("ready".to_owned(), serde_json::json!([])));
    }

    #[test]
    fn background_work_is_told_only_when_it_changes_something() {
        let board = Board::default();
        let mut listener = board.listen();
        let mut told = || {
            let changed = listener.has_changed().unwrap();
            listener.mark_unchanged();
            changed
        };
        board.done(Stage::Rest, Ok(()));
        assert!(!told());
        board.done(Stage::Rest, Err(problem("no such link")));
        assert!(told() && board.now().json().contains("building"));
        board.done(Stage::Rest, Ok(()));
        assert!(told());
    }

    #[test]
    fn a_compile_error_stays_until_the_code_compiles() {
        let board = Board::default();
        board.woven(Ok(()));
        let first = board.now().generation();
        board.done(Stage::Code, Err(problem("does not compile")));
        assert_eq!(board.now().generation(), first, "the pages are as they were");
        board.woven(Ok(()));
        assert_ne!(board.now().generation(), first);
        assert!(board.now().json().contains("does not compile"));
        board.done(Stage::Code, Ok(()));
        assert!(!board.now().json().contains("does not compile"));
    }
}
