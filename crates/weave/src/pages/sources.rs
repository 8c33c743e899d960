//! Looks into the chapters' folder: which links the authors wrote, and which
//! Markdown files no one will ever read.

use std::collections::HashSet;
use std::path::Path;

use pulldown_cmark::{Event, Parser, Tag};
use scraper::Html;
use walkdir::WalkDir;

use super::{elements, site_path};
use crate::chapter::{Chapter, markdown_options};
use crate::problem::{Problem, Problems, closest};

/// A link or picture in a chapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLink {
    /// The line, from 1.
    pub line: usize,
    /// The destination, as it was written.
    pub destination: String,
    /// The destination on the page: `.md` has become `.html`.
    pub rendered: String,
}

/// The links and pictures of a chapter, in Markdown or HTML, in order.
#[must_use]
pub fn source_links(chapter: &Chapter) -> Vec<SourceLink> {
    let mut links = Vec::new();
    for (event, range) in Parser::new_ext(&chapter.text, markdown_options()).into_offset_iter() {
        let mut found = |destination: &str| {
            links.push(SourceLink {
                line: chapter.line_of(range.start),
                destination: destination.to_owned(),
                rendered: rendered(destination),
            });
        };
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                found(&dest_url);
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                for element in elements(&Html::parse_fragment(&html)) {
                    let addresses = [element.attr("href"), element.attr("src")];
                    addresses.into_iter().flatten().for_each(&mut found);
                }
            }
            _ => {}
        }
    }
    links
}

/// What mdBook makes of a destination.
fn rendered(destination: &str) -> String {
    let (path, fragment) = match destination.find('#') {
        Some(at) => destination.split_at(at),
        None => (destination, ""),
    };
    match path.strip_suffix(".md") {
        Some(stem) if !path.contains(':') => format!("{stem}.html{fragment}"),
        _ => destination.to_owned(),
    }
}

/// The Markdown files of the chapters' folder that SUMMARY.md does not name.
///
/// `root` is the book's root, `source` the chapters' folder relative to it, and
/// `named` the chapters' files relative to that folder.
#[must_use]
pub fn orphans<'a>(
    root: &Path,
    source: &Path,
    named: impl IntoIterator<Item = &'a Path>,
) -> Problems {
    let named: HashSet<String> = named.into_iter().map(site_path).collect();
    let folder = root.join(source);
    let mut problems = Problems::default();
    for entry in WalkDir::new(&folder) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let path = error.path().unwrap_or(&folder);
                let path = path.strip_prefix(root).unwrap_or(path);
                problems.push(Problem::in_file(path, format!("cannot be read: {error}")));
                continue;
            }
        };
        let path = entry.path().strip_prefix(&folder).unwrap_or(entry.path());
        let is_markdown = path.extension().is_some_and(|extension| extension == "md");
        // SUMMARY.md names the chapters, and 404.md is mdBook's own.
        let is_special = path == Path::new("SUMMARY.md") || path == Path::new("404.md");
        let name = site_path(path);
        if entry.file_type().is_file() && is_markdown && !is_special && !named.contains(&name) {
            let alike = closest(&name, named.iter().map(String::as_str));
            let alike = alike.map_or_else(String::new, |n| format!(" (it names `{n}`)"));
            problems.push(
                Problem::in_file(source.join(path), "SUMMARY.md does not name this chapter")
                    .hint(format!("add it there{alike}, or remove the file")),
            );
        }
    }
    problems
}
