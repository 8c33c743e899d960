//! Items of a crate by their Rust path, so that a page that shows one follows
//! the code: where it stands, its source, its API page, what it calls. Reads
//! source text only; it neither expands macros nor infers types.

mod code;
mod count;
mod imports;
mod items;
mod load;
mod pages;
mod resolve;
#[cfg(test)]
mod tests;
mod uses;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::problem::{Problems, closest};
use load::Loader;
use resolve::{Found, Seen, Wanted};

/// An item of a crate: where it stands and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The path under which others can name it, `attention::recipe::score`; of
    /// a private item, the path of its definition.
    pub path: String,
    /// What sort of item it is.
    pub kind: Kind,
    /// The file, relative to the book's root.
    pub file: PathBuf,
    /// The first line of `code` in the file, from 1.
    pub first_line: usize,
    /// Its last line.
    pub last_line: usize,
    /// The source text from the signature on, without documentation; of its
    /// attributes only `#[derive]` stays, because it says what a type can do.
    pub code: String,
    api_page: Option<String>,
    source_page: String,
}

/// The sort of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `mod`
    Module,
    /// `fn`
    Function,
    /// `struct`
    Struct,
    /// `enum`
    Enum,
    /// `union`
    Union,
    /// `trait`
    Trait,
    /// `const`
    Constant,
    /// `static`
    Static,
    /// `type`
    TypeAlias,
    /// `macro_rules!`
    Macro,
    /// A function of a type or, with a body, of a trait.
    Method,
    /// A function that a trait's implementors have to write.
    RequiredMethod,
    /// A constant of a type or a trait.
    AssociatedConstant,
}

impl Item {
    /// The item's API page, relative to rustdoc's folder:
    /// `attention/recipe/fn.score.html`. A private item has none.
    #[must_use]
    pub fn api_page(&self) -> Option<&str> {
        self.api_page.as_deref()
    }

    /// The item's lines in rustdoc's source pages, relative to rustdoc's
    /// folder: `src/attention/recipe.rs.html#40-52`.
    #[must_use]
    pub fn source_page(&self) -> &str {
        &self.source_page
    }
}

/// No item has this path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    /// The path that was asked for.
    pub path: String,
    /// The longest part of it that is there; empty if not even the crate is.
    pub found: String,
    /// The part behind it that is not.
    pub missing: String,
    /// A name that stands beside it and looks alike.
    pub closest: Option<String>,
}

impl NotFound {
    /// What is wrong, without a remedy.
    #[must_use]
    pub fn message(&self) -> String {
        format!("no item `{}`", self.path)
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match &self.closest {
            Some(name) => format!("did you mean `{name}`?"),
            None if self.found.is_empty() => {
                format!("no crate `{}` is known to the book", self.missing)
            }
            None => format!("`{}` has no `{}`", self.found, self.missing),
        }
    }
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message(), self.hint())
    }
}

impl std::error::Error for NotFound {}

/// The items of some crates, as their source stood when they were opened.
#[derive(Clone, Debug, Default)]
pub struct Crates {
    /// Every module by its path; a crate's root by the crate's name.
    modules: BTreeMap<String, Module>,
    /// What `impl` blocks and traits hold, by the path of the type or trait.
    associated: BTreeMap<String, BTreeMap<String, Record>>,
    tests: usize,
}

/// A module: its own items and the names it brings in.
#[derive(Clone, Debug)]
struct Module {
    public: bool,
    item: Item,
    items: BTreeMap<String, Record>,
    children: Vec<String>,
    imports: Vec<Import>,
}

/// One name of a `use`, or one `*`.
#[derive(Clone, Debug)]
struct Import {
    /// The name it has here; nothing for `*`.
    name: Option<String>,
    target: Vec<String>,
    public: bool,
}

/// An item with what is needed to find out what it calls.
#[derive(Clone, Debug)]
struct Record {
    item: Item,
    public: bool,
    /// The path of the module that it stands in.
    module: String,
    /// The paths in its body, as written; a leading empty part for `::`.
    mentions: Vec<Vec<String>>,
}

impl Crates {
    /// Reads the crates in `folders`, which are relative to `root`: every file
    /// that cargo would compile for their library, program and tests.
    ///
    /// # Errors
    ///
    /// A manifest or source file that is missing, unreadable or cannot be
    /// parsed; all of them together.
    pub fn open(root: &Path, folders: &[PathBuf]) -> Result<Crates, Problems> {
        let mut loader = Loader::new(root);
        for folder in folders {
            loader.load_crate(folder);
        }
        let (mut crates, impls) = loader.finish()?;
        crates.attach(impls);
        crates.set_pages();
        Ok(crates)
    }

    /// The item with this path: by its definition, or through `pub use`.
    /// Methods are found in every `impl` block of the type.
    ///
    /// # Errors
    ///
    /// [`NotFound`] says which part of the path is missing.
    pub fn item(&self, path: &str) -> Result<Item, NotFound> {
        let parts: Vec<_> = path.split("::").map(|part| part.trim().to_owned()).collect();
        let (found, rest) = self.follow(None, &parts, Wanted::Item, true, &mut Seen::new());
        match found {
            Some(Found::Module(module)) if rest.is_empty() => {
                Ok(self.modules[&module].item.clone())
            }
            Some(Found::Item(record)) if rest.is_empty() => Ok(record.item.clone()),
            found => Err(self.not_found(path, found.as_ref(), &parts, rest)),
        }
    }

    /// The names of the crates.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.modules.keys().map(String::as_str).filter(|path| !path.contains("::"))
    }

    /// How many tests the crates have: functions marked `#[test]`, also
    /// `#[tokio::test]` and inside `proptest!`, in their sources and in their
    /// folders `tests/`.
    #[must_use]
    pub fn count_tests(&self) -> usize {
        self.tests
    }

    fn not_found(
        &self,
        path: &str,
        found: Option<&Found<'_>>,
        parts: &[String],
        rest: &[String],
    ) -> NotFound {
        let missing = rest.first().cloned().unwrap_or_default();
        let siblings = self.names_in(found);
        NotFound {
            path: path.to_owned(),
            found: parts[..parts.len() - rest.len()].join("::"),
            closest: closest(&missing, siblings.iter().map(String::as_str)).map(str::to_owned),
            missing,
        }
    }
}
