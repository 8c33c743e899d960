//! The lock file: every value as it was last blessed, in a form made for
//! reading in diffs. One table a value, sorted by name.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::{Entry, Ledger, Value};

/// The remembered form of every value, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    entries: BTreeMap<String, Locked>,
}

/// The remembered form of one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locked {
    /// The value's kind.
    pub kind: String,
    /// The path of the function that computed it.
    pub maker: String,
    /// The value as it is shown.
    pub shown: String,
    /// The entry's line in the lock file, where it was read from one.
    pub line: Option<usize>,
}

/// How a value differs from what the lock remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The value's name.
    pub name: String,
    /// What the lock remembers; nothing for a new value.
    pub locked: Option<Locked>,
    /// What was computed now; nothing for a value that is gone.
    pub now: Option<Locked>,
}

/// Why a lock file could not be read.
#[derive(Debug)]
pub struct LockError {
    /// The file.
    pub path: PathBuf,
    /// The line, where one is to blame.
    pub line: Option<usize>,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line.unwrap_or(1), self.reason)
    }
}

impl std::error::Error for LockError {}

const HEADING: &str = "\
# Every value the book quotes, as last blessed. Written by `cargo book bless`;
# read the differences, don't edit the lines.
";

impl Lock {
    /// What the lock file would remember of this ledger.
    #[must_use]
    pub fn of(ledger: &Ledger) -> Lock {
        let entries = ledger
            .entries()
            .map(|entry| {
                let locked = Locked {
                    kind: entry.value().kind().to_owned(),
                    maker: entry.maker().to_owned(),
                    shown: remembered(entry),
                    line: None,
                };
                (entry.name().to_owned(), locked)
            })
            .collect();
        Lock { entries }
    }

    /// Reads a lock file. One that does not exist is empty: everything in the
    /// ledger is then new.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is not UTF-8, or is not a lock file.
    pub fn read(path: &Path) -> Result<Lock, LockError> {
        let fail = |line, reason| LockError { path: path.to_owned(), line, reason };
        match fs::read_to_string(path) {
            Ok(text) => Lock::parse(&text).map_err(|(line, reason)| fail(line, reason)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Lock::default()),
            Err(error) => Err(fail(None, error.to_string())),
        }
    }

    fn parse(text: &str) -> Result<Lock, (Option<usize>, String)> {
        let line_of = |offset: usize| 1 + text[..offset].matches('\n').count();
        let tables: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            (error.span().map(|span| line_of(span.start)), error.message().to_owned())
        })?;
        let mut entries = BTreeMap::new();
        for (name, table) in tables {
            let line = text.find(&format!("[\"{name}\"]")).map(line_of);
            let field = |key: &str| {
                table.get(key).and_then(toml::Value::as_str).map(str::to_owned).ok_or_else(|| {
                    (line, format!("`{name}` has no text `{key}`; run `cargo book bless`"))
                })
            };
            let shown = field("shown")?;
            let locked = Locked {
                kind: field("kind")?,
                maker: field("maker")?,
                shown: shown.strip_suffix('\n').unwrap_or(&shown).to_owned(),
                line,
            };
            entries.insert(name, locked);
        }
        Ok(Lock { entries })
    }

    /// Replaces the lock file, whole or not at all.
    ///
    /// # Errors
    ///
    /// The folder cannot be written to, or the disk is full; the old file then
    /// stands as it was.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        replace_file(path, self.to_string().as_bytes())
    }

    /// What differs between this lock, as remembered, and `now`, by name.
    #[must_use]
    pub fn differences(&self, now: &Lock) -> Vec<Difference> {
        let names: std::collections::BTreeSet<_> =
            self.entries.keys().chain(now.entries.keys()).collect();
        names
            .into_iter()
            .filter_map(|name| {
                let (locked, now) = (self.entries.get(name), now.entries.get(name));
                let same = match (locked, now) {
                    (Some(a), Some(b)) => {
                        (&a.kind, &a.maker, &a.shown) == (&b.kind, &b.maker, &b.shown)
                    }
                    _ => false,
                };
                (!same).then(|| Difference {
                    name: name.clone(),
                    locked: locked.cloned(),
                    now: now.cloned(),
                })
            })
            .collect()
    }

    /// The number of values remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEADING)?;
        for (name, Locked { kind, maker, shown, .. }) in &self.entries {
            write!(f, "\n[\"{name}\"]\nkind = \"{kind}\"\nmaker = \"{maker}\"\nshown = ")?;
            if shown.contains('\n') {
                writeln!(f, "\"\"\"\n{}\n\"\"\"", escape(shown))?;
            } else {
                writeln!(f, "\"{}\"", escape(shown))?;
            }
        }
        Ok(())
    }
}

/// Escapes for a TOML string of either length, leaving line ends as they are.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '"' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '\n' => escaped.push(c),
            c if c.is_control() => {
                // Writing to a String cannot fail.
                let _ = write!(escaped, "\\u{:04X}", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// Replaces a file's contents by way of a temporary file beside it, so that a
/// reader sees the old or the new contents and never a part.
///
/// # Errors
///
/// The folder cannot be written to, or the disk is full; the old file then
/// stands as it was.
pub fn replace_file(path: &Path, contents: &[u8]) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(contents)?;
    file.as_file().sync_all()?;
    make_readable(&file)?;
    file.persist(path)?;
    Ok(())
}

/// Temporary files are private to their owner; what replaces a file of the book
/// should be as readable as any other.
#[cfg(unix)]
fn make_readable(file: &tempfile::NamedTempFile) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.as_file().set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_readable(_: &tempfile::NamedTempFile) -> io::Result<()> {
    Ok(())
}

/// What the lock remembers of a value: what is shown of it, and of a widget's
/// data, which nobody would read in a diff, a digest.
fn remembered(entry: &Entry) -> String {
    let shown = entry.shown();
    match entry.value() {
        Value::Widget(widget) => format!("{shown}, sha256 {}", digest(widget.data.as_bytes())),
        _ => shown,
    }
}

/// SHA-256, as sixty-four hexadecimal digits.
fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn table() -> ndarray::Array2<f64> {
        array![[1.0, 2.0], [3.0, 4.0]]
    }
    fn other_table() -> ndarray::Array2<f64> {
        array![[1.0, 2.0], [3.0, 4.5]]
    }
    fn text() -> String {
        "a \"quoted\" \\ back\u{7}slash".to_owned()
    }

    fn ledger() -> Ledger {
        let mut ledger = Ledger::new();
        ledger.enter("a.table", table).digits(1);
        ledger.enter("a.text", text);
        ledger
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("values.lock");
        let lock = Lock::of(&ledger());
        lock.write(&path).unwrap();
        let read = Lock::read(&path).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(read.differences(&lock), []);
        assert_eq!(read.entries["a.table"].line, Some(4));
    }

    #[test]
    fn a_changed_a_new_and_a_lost_value_are_told_apart() {
        let before = Lock::of(&ledger());
        let mut ledger = Ledger::new();
        ledger.enter("a.table", other_table).digits(1);
        ledger.enter("b.new", text);
        let differences = before.differences(&Lock::of(&ledger));
        let told: Vec<_> = differences
            .iter()
            .map(|d| (d.name.as_str(), d.locked.is_some(), d.now.is_some()))
            .collect();
        assert_eq!(
            told,
            [("a.table", true, true), ("a.text", true, false), ("b.new", false, true)]
        );
        assert_eq!(differences[0].now.as_ref().unwrap().shown, "1.0  2.0\n3.0  4.5");
    }

    fn toy(data: &str) -> crate::Widget {
        let element = "toy-box".to_owned();
        crate::Widget { element, fallback: String::new(), data: data.to_owned() }
    }
    fn one() -> crate::Widget {
        toy("{\"n\":1}")
    }
    fn two() -> crate::Widget {
        toy("{\"n\":2}")
    }

    #[test]
    fn of_a_widgets_data_a_digest_is_remembered() {
        let mut ledger = Ledger::new();
        ledger.enter("a.toy", one);
        let first = Lock::of(&ledger).entries["a.toy"].shown.clone();
        let mut ledger = Ledger::new();
        ledger.enter("a.toy", two);
        let second = Lock::of(&ledger).entries["a.toy"].shown.clone();
        assert_ne!(first, second);
        // The digest was computed with the system's sha256sum.
        assert_eq!(
            first,
            "toy-box with 7 bytes of data, \
             sha256 2bfd14f43d17fc7cea24e0917a8879b4b2f880b8baeec1b9d90fbaad655e71bd"
        );
    }

    #[test]
    fn a_missing_file_is_an_empty_lock_and_a_broken_one_is_an_error_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("values.lock");
        assert!(Lock::read(&path).unwrap().is_empty());
        fs::write(&path, "# heading\n[\"a.b\"]\nkind = scalar\nshown = \"\"").unwrap();
        let error = Lock::read(&path).unwrap_err();
        assert_eq!(error.line, Some(3), "{error}");
        fs::write(&path, "\n[\"a.b\"]\nkind = \"scalar\"\n").unwrap();
        let error = Lock::read(&path).unwrap_err();
        assert_eq!(error.line, Some(2), "{error}");
        assert!(error.reason.contains("`a.b` has no text `shown`"), "{error}");
        fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(Lock::read(&path).is_err());
    }

    #[test]
    fn a_file_that_cannot_be_replaced_stands_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("missing").join("values.lock");
        assert!(Lock::of(&ledger()).write(&path).is_err());
        assert!(!path.exists());
    }
}
