//! Watches the files a book is made of, and says which kind of rebuilding a
//! change asks for. Many changes at once, as an editor or git makes them, count
//! as one.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use walkdir::WalkDir;

/// Files and folders to watch. Hidden files, editors' backups and
/// `node_modules` never count.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// The book's folder.
    pub root: PathBuf,
    /// What pages are woven from: chapters, theme, configuration.
    pub text: Vec<PathBuf>,
    /// What must be compiled.
    pub code: Vec<PathBuf>,
    /// Folders that builds write into.
    pub ignored: Vec<PathBuf>,
}

/// What a change asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    Text,
    Code,
}

/// The stream of changes.
pub(super) struct Changes {
    events: Receiver<notify::Result<Event>>,
    watcher: std::cell::RefCell<RecommendedWatcher>,
    watched: Watched,
}

/// After a change, wait until nothing has happened for so long …
const QUIET: Duration = Duration::from_millis(60);
/// … but no longer than this.
const PATIENCE: Duration = Duration::from_millis(600);

impl Watched {
    pub(super) fn watch(self) -> Result<Changes, String> {
        let (sender, events) = mpsc::channel();
        let mut watcher = notify::recommended_watcher(sender).map_err(|error| explained(&error))?;
        for path in self.text.iter().chain(&self.code) {
            self.watch_tree(&mut watcher, path)?;
            // A file that is replaced, as many editors do, is seen by its folder.
            if let Some(folder) = path.parent().filter(|folder| folder.is_dir()) {
                watcher
                    .watch(folder, RecursiveMode::NonRecursive)
                    .map_err(|error| explained(&error))?;
            }
        }
        Ok(Changes { events, watcher: watcher.into(), watched: self })
    }

    /// Watches each folder by itself: watching recursively would take in the
    /// thousands of folders below `target` and `node_modules`.
    fn watch_tree(&self, watcher: &mut RecommendedWatcher, path: &Path) -> Result<(), String> {
        let folders = WalkDir::new(path)
            .into_iter()
            .filter_entry(|entry| entry.file_type().is_dir() && self.kind(entry.path()).is_some());
        for folder in folders.filter_map(Result::ok) {
            watcher
                .watch(folder.path(), RecursiveMode::NonRecursive)
                .map_err(|error| explained(&error))?;
        }
        Ok(())
    }

    /// What a change to this file asks for, if anything.
    fn kind(&self, path: &Path) -> Option<Change> {
        let within = |roots: &[PathBuf]| roots.iter().any(|root| path.starts_with(root));
        let inner = path.strip_prefix(&self.root).unwrap_or(path);
        let passing = inner.components().any(|part| {
            let name = part.as_os_str().to_string_lossy();
            name.starts_with('.') || name.ends_with('~') || name == "node_modules"
        });
        if passing || within(&self.ignored) {
            None
        } else if within(&self.code) {
            Some(Change::Code)
        } else {
            within(&self.text).then_some(Change::Text)
        }
    }
}

impl Changes {
    /// Waits for the next change; nothing once watching has ended.
    pub(super) fn next(&self) -> Option<Change> {
        let mut found = None;
        while found.is_none() {
            found = self.change(self.events.recv().ok()?);
        }
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            match self.events.recv_timeout(QUIET) {
                Ok(event) => found = found.max(self.change(event)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        found
    }

    /// Takes what has come in, without waiting.
    pub(super) fn waiting(&self) -> Option<Change> {
        self.events.try_iter().filter_map(|event| self.change(event)).max()
    }

    fn change(&self, event: notify::Result<Event>) -> Option<Change> {
        let Ok(event) = event else { return Some(Change::Code) };
        if event.need_rescan() {
            return Some(Change::Code);
        }
        if matches!(event.kind, EventKind::Access(_)) {
            return None;
        }
        let created = matches!(event.kind, EventKind::Create(_) | EventKind::Modify(_));
        for folder in event.paths.iter().filter(|path| created && path.is_dir()) {
            // Should it fail, the folder's files are not watched; the change
            // that made it is reported all the same.
            let _ = self.watched.watch_tree(&mut self.watcher.borrow_mut(), folder);
        }
        event.paths.iter().filter_map(|path| self.watched.kind(path)).max()
    }
}

fn explained(error: &notify::Error) -> String {
    match error.kind {
        notify::ErrorKind::MaxFilesWatch => {
            "the system's limit for watched files is reached; raise it \
             (on Linux: sysctl fs.inotify.max_user_watches)"
                .to_owned()
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn watched(root: &Path) -> Watched {
        Watched {
            root: root.to_owned(),
            text: vec![root.join("book"), root.join("book.toml")],
            code: vec![root.join("crates"), root.join("Cargo.toml")],
            ignored: vec![root.join("target"), root.join("book/src/katex")],
        }
    }

    #[test]
    fn a_file_tells_what_to_rebuild() {
        let root = Path::new("/home/.hidden/book");
        let watched = watched(root);
        let kind = |path: &str| watched.kind(&root.join(path));
        assert_eq!(kind("book/src/part/chapter.md"), Some(Change::Text));
        assert_eq!(kind("book.toml"), Some(Change::Text));
        assert_eq!(kind("crates/worked/src/lib.rs"), Some(Change::Code));
        assert_eq!(kind("Cargo.toml"), Some(Change::Code));
        for ignored in [
            "README.md",
            "target/debug/x.rs",
            "book/src/katex/katex.min.css",
            "book/node_modules/katex/package.json",
            "book/src/.chapter.md.swp",
            "book/src/chapter.md~",
        ] {
            assert_eq!(kind(ignored), None, "{ignored}");
        }
    }

    #[test]
    fn changes_come_in_also_from_new_folders_and_replaced_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("book/src")).unwrap();
        fs::create_dir_all(root.join("crates")).unwrap();
        fs::write(root.join("book.toml"), "a").unwrap();
        let changes = watched(&root).watch().unwrap();
        let change = |act: &dyn Fn()| {
            act();
            let change = changes.next();
            std::thread::sleep(QUIET);
            changes.waiting();
            change
        };
        assert_eq!(
            change(&|| fs::create_dir(root.join("book/src/part")).unwrap()),
            Some(Change::Text)
        );
        assert_eq!(
            change(&|| fs::write(root.join("book/src/part/a.md"), "").unwrap()),
            Some(Change::Text)
        );
        assert_eq!(
            change(&|| {
                fs::write(root.join(".new"), "b").unwrap();
                fs::rename(root.join(".new"), root.join("book.toml")).unwrap();
            }),
            Some(Change::Text)
        );
        assert_eq!(
            change(&|| {
                fs::write(root.join("book/src/part/a.md"), "x").unwrap();
                fs::write(root.join("crates/a.rs"), "").unwrap();
            }),
            Some(Change::Code),
            "changes at once count as one, of the greater kind"
        );
    }
}
