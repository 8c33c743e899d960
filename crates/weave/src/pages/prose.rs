//! Reads the pages' text: what was left unresolved, and whether the formulas are
//! those that were written.

use std::path::Path;

use scraper::{ElementRef, Node};

use super::{Kind, Page, Site, page_of, select};
use crate::problem::{Problem, Problems};

/// Elements whose text is no prose.
const VERBATIM: [&str; 6] = ["code", "pre", "script", "style", "annotation", "template"];

/// The blocks whose text is looked at as a whole.
const BLOCKS: &str = "p, li, td, th, h1, h2, h3, h4, h5, h6, figcaption, caption, dt, dd";

impl Site {
    /// Directives that nothing resolved: a `{{word …}}` left in the text or in an
    /// attribute, outside code.
    #[must_use]
    pub fn unresolved(&self) -> Problems {
        let mut problems = Problems::default();
        for (name, page) in self.pages.iter().filter(|(_, page)| page.kind != Kind::Print) {
            for directive in directives(page) {
                let message = format!("`{directive}` was not resolved");
                problems.push(
                    Problem::in_file(self.path(name), message)
                        .hint("is it misspelt, or a block directive inside a paragraph?"),
                );
            }
        }
        problems
    }

    /// Formulas that did not come out as formulas: dollar signs left around TeX,
    /// and what KaTeX marked as an error.
    #[must_use]
    pub fn mangled(&self) -> Problems {
        let mut problems = Problems::default();
        for (name, page) in self.chapters() {
            let file = self.path(name);
            for block in select(&page.html, BLOCKS) {
                if let Some(formula) = leftover(&prose(block)) {
                    let message = format!("`{formula}` was left as it is, not typeset");
                    problems.push(Problem::in_file(&file, message));
                }
            }
            for error in select(&page.html, ".katex-error") {
                let tex: String = error.text().collect();
                let message = format!("KaTeX could not typeset `{tex}`");
                problems.push(Problem::in_file(&file, message));
            }
        }
        problems
    }

    /// Whether the formulas on a chapter's page are those of its text, in order.
    ///
    /// Compares with the annotations that KaTeX leaves where its output is
    /// `htmlAndMathml` or `mathml`; spaces and line ends are all the same.
    #[must_use]
    pub fn formulas(&self, chapter: &Path, written: &[String]) -> Problems {
        let name = page_of(chapter);
        let file = self.path(&name);
        let Some(page) = self.pages.get(&name) else {
            return Problem::in_file(file, "the chapter's page is missing").into();
        };
        let shown: Vec<String> = select(&page.html, "main annotation")
            .into_iter()
            .map(|annotation| one_line(&annotation.text().collect::<String>()))
            .collect();
        let mut pairs = shown.iter().zip(written).enumerate();
        let differing = pairs.find(|(_, (shown, written))| **shown != one_line(written));
        match differing {
            Some((index, (shown, written))) => {
                let message = format!("formula {} is not the one that was written", index + 1);
                let detail = format!("on the page: {shown}\nwritten: {}", one_line(written));
                Problem::in_file(file, message).detail(detail).into()
            }
            None if shown.len() != written.len() => {
                let (shown, written) = (shown.len(), written.len());
                let message =
                    format!("the page shows {shown} formulas, and {written} were written");
                Problem::in_file(file, message).into()
            }
            None => Problems::default(),
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The directives in the text and the attributes of a page.
fn directives(page: &Page) -> Vec<&str> {
    let mut found = Vec::new();
    for node in page.html.tree.nodes() {
        if node.ancestors().filter_map(ElementRef::wrap).any(is_verbatim) {
            continue;
        }
        match node.value() {
            Node::Text(text) => found.extend(directive(text)),
            Node::Element(element) if !ElementRef::wrap(node).is_some_and(is_verbatim) => {
                found.extend(element.attrs().filter_map(|(_, value)| directive(value)));
            }
            _ => {}
        }
    }
    found
}

fn is_verbatim(element: ElementRef<'_>) -> bool {
    let is_formula = element.value().classes().any(|class| class == "katex");
    is_formula || VERBATIM.contains(&element.value().name())
}

/// The first `{{word …}}` of a text, or `{{#word …}}`.
fn directive(text: &str) -> Option<&str> {
    text.match_indices("{{").find_map(|(start, _)| {
        let length = text[start..].find("}}")? + 2;
        let word = text[start + 2..].trim_start().trim_start_matches('#');
        word.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| &text[start..start + length])
    })
}

/// The text of a block without its code and formulas.
fn prose(block: ElementRef<'_>) -> String {
    let mut text = String::new();
    for node in block.descendants() {
        if let Node::Text(part) = node.value()
            && !node
                .ancestors()
                .take_while(|ancestor| ancestor.id() != block.id())
                .filter_map(ElementRef::wrap)
                .any(is_verbatim)
        {
            text.push_str(part);
        }
    }
    text
}

/// Dollar signs around something that looks like TeX; two prices do not.
fn leftover(text: &str) -> Option<&str> {
    let mut signs = text.match_indices('$').map(|(at, _)| at);
    let mut start = signs.next()?;
    for end in signs {
        let inside = &text[start + 1..end];
        if inside.is_empty() || inside == inside.trim() && inside.contains(['\\', '_', '^', '{']) {
            return Some(&text[start..=end]);
        }
        start = end;
    }
    None
}
