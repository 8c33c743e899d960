//! Looks at the rendered site as a reader's browser would meet it: what its
//! pages ask of other hosts, where their links lead, what was left unresolved.
//! Also puts into each page's head what a shared link to it shows.
//!
//! Knows mdBook's output and the book's own markup; builds nothing.

mod head;
mod hosts;
mod links;
mod prose;
mod sources;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use scraper::{ElementRef, Html, Selector};
use walkdir::WalkDir;

use crate::problem::{Problem, Problems};

pub use head::{Card, describe, finish};
pub use sources::{SourceLink, orphans, source_links};

/// The folder of the API pages, which rustdoc writes and vouches for.
const API: &str = "api";

/// A rendered site: its pages, parsed once, and the names of all its files.
#[derive(Debug)]
pub struct Site {
    folder: PathBuf,
    pages: BTreeMap<String, Page>,
    /// The style sheets' text.
    styles: BTreeMap<String, String>,
    /// All files, API pages included, relative to the folder.
    files: BTreeSet<String>,
}

/// A page of the site.
#[derive(Debug)]
struct Page {
    html: Html,
    anchors: HashSet<String>,
    kind: Kind,
}

/// What a page is for; mdBook writes more than the chapters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Chapter,
    /// All chapters on one page. What is wrong there is wrong in a chapter.
    Print,
    /// Shown for addresses that do not exist; its links start from the root.
    NotFound,
    /// The table of contents, for readers without JavaScript.
    Contents,
    /// Sends the reader of an old address on.
    Redirect,
}

impl Site {
    /// Reads all pages and style sheets of a folder, and the names of its files.
    ///
    /// # Errors
    ///
    /// The folder is missing, or a page or style sheet cannot be read or is not
    /// UTF-8.
    pub fn read(folder: &Path) -> Result<Site, Problems> {
        let mut problems = Problems::default();
        let mut site = Site {
            folder: folder.to_owned(),
            pages: BTreeMap::new(),
            styles: BTreeMap::new(),
            files: BTreeSet::new(),
        };
        for entry in WalkDir::new(folder) {
            let result = match entry {
                Ok(entry) if entry.file_type().is_file() => site.take(entry.path()),
                Ok(_) => Ok(()),
                Err(error) => {
                    let path = error.path().unwrap_or(folder).to_owned();
                    Err(Problem::in_file(path, format!("cannot be read: {error}"))
                        .hint("build the book first"))
                }
            };
            if let Err(problem) = result {
                problems.push(problem);
            }
        }
        problems.or(site)
    }

    /// Takes up a file of the folder.
    fn take(&mut self, path: &Path) -> Result<(), Problem> {
        let name = site_path(path.strip_prefix(&self.folder).unwrap_or(path));
        let kept = !name.starts_with("api/") && (name.ends_with(".html") || name.ends_with(".css"));
        if kept {
            let text = read(path)?;
            if name.ends_with(".css") {
                self.styles.insert(name.clone(), text);
            } else {
                self.pages.insert(name.clone(), Page::new(&name, &text));
            }
        }
        self.files.insert(name);
        Ok(())
    }

    /// How many pages the site has, API pages not counted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Whether the site has no pages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// The pages of the chapters.
    fn chapters(&self) -> impl Iterator<Item = (&str, &Page)> {
        self.pages
            .iter()
            .filter(|(_, page)| page.kind == Kind::Chapter)
            .map(|(name, page)| (name.as_str(), page))
    }

    /// The path of one of the site's files as problems name it.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

impl Page {
    fn new(name: &str, text: &str) -> Page {
        let html = Html::parse_document(text);
        let kind = match name {
            "print.html" => Kind::Print,
            "404.html" => Kind::NotFound,
            "toc.html" => Kind::Contents,
            _ if refresh(&html).is_some() => Kind::Redirect,
            _ => Kind::Chapter,
        };
        Page { anchors: anchors(&html), html, kind }
    }
}

/// A path with `/` between its parts, as in an address.
fn site_path(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// The page that mdBook makes of a chapter: `README.md` is a folder's index.
fn page_of(chapter: &Path) -> String {
    let page = chapter.with_extension("html");
    let is_readme = chapter.file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case("readme"));
    site_path(&if is_readme { page.with_file_name("index.html") } else { page })
}

fn read(path: &Path) -> Result<String, Problem> {
    fs::read_to_string(path)
        .map_err(|error| Problem::in_file(path, format!("cannot be read: {error}")))
}

/// What a fragment of an address can point at.
fn anchors(html: &Html) -> HashSet<String> {
    elements(html)
        .flat_map(|element| {
            let name = (element.value().name() == "a").then(|| element.attr("name")).flatten();
            [element.attr("id"), name]
        })
        .flatten()
        .map(str::to_owned)
        .collect()
}

fn elements(html: &Html) -> impl Iterator<Item = ElementRef<'_>> {
    html.tree.nodes().filter_map(ElementRef::wrap)
}

fn select<'a>(html: &'a Html, css: &str) -> Vec<ElementRef<'a>> {
    // Every selector is a literal of this module, tried by its tests.
    Selector::parse(css).map(|selector| html.select(&selector).collect()).unwrap_or_default()
}

/// The address that a page sends its reader on to.
fn refresh(html: &Html) -> Option<&str> {
    let meta = select(html, "meta[http-equiv=refresh]").first()?.attr("content")?;
    meta.to_ascii_lowercase().find("url=").map(|at| meta[at + 4..].trim_matches(['\'', '"', ' ']))
}

#[cfg(test)]
mod tests;
