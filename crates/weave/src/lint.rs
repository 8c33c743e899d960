//! What a chapter must not hold: decimals typed by hand, and includes that
//! find nothing.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;

use pulldown_cmark::{Event, Parser, Tag};
use regex::Regex;

use crate::chapter::{Chapter, markdown_options};
use crate::directive::{Directive, regex};
use crate::problem::{Problem, closest};

static DECIMAL: LazyLock<Regex> = LazyLock::new(|| regex(r"[0-9]+(?:\.[0-9]+)+"));
static TAG: LazyLock<Regex> = LazyLock::new(|| regex(r"<[^>]*>"));
static INCLUDE: LazyLock<Regex> = LazyLock::new(|| regex(r"(\\)?\{\{#([a-z_]+)\s+([^}]+?)\s*\}\}"));

/// Every decimal typed by hand in prose or in a formula: it could have been
/// computed, and would not follow the code.
pub(crate) fn typed_decimals(chapter: &Chapter, directives: &[Directive]) -> Vec<Problem> {
    let exempt = addresses_and_tags(&chapter.text);
    let is_exempt = |at: usize| {
        chapter.in_code(at)
            || exempt.iter().any(|range| range.contains(&at))
            || directives.iter().any(|directive| in_words(directive, at))
    };
    DECIMAL
        .find_iter(&chapter.text)
        .filter(|found| !is_exempt(found.start()))
        .map(|found| {
            Problem::at(
                &chapter.file,
                chapter.line_of(found.start()),
                format!("`{}` is typed by hand", found.as_str()),
            )
            .hint(format!(
                "quote a computed value, `{{{{value …}}}}`, or write `{{{{literal {}}}}}` if it is \
                 no result (a version, a section)",
                found.as_str()
            ))
        })
        .collect()
}

/// Whether a byte belongs to the directive itself and not to its caption.
fn in_words(directive: &Directive, at: usize) -> bool {
    let in_caption = directive.caption.as_ref().is_some_and(|caption| caption.contains(&at));
    directive.range.contains(&at) && !in_caption
}

/// Where links lead and what HTML tags say is not prose; nor is a directive in
/// a caption.
fn addresses_and_tags(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<_> = TAG.find_iter(text).map(|found| found.range()).collect();
    ranges.extend(regex(r"\{\{[^{}\n]*\}\}").find_iter(text).map(|found| found.range()));
    let parser = Parser::new_ext(text, markdown_options());
    ranges.extend(
        parser.reference_definitions().iter().map(|(_, definition)| definition.span.clone()),
    );
    for (event, range) in parser.into_offset_iter() {
        if let Event::Start(Tag::Link { .. } | Tag::Image { .. }) = event
            && let Some(address) = text[range.clone()].rfind("](")
        {
            ranges.push(range.start + address..range.end);
        }
    }
    ranges
}

/// Every include of mdBook's own that would find nothing: mdBook itself would
/// log it and go on.
pub(crate) fn includes(chapter: &Chapter, root: &Path) -> Vec<Problem> {
    let folder = root.join(&chapter.file).parent().map(Path::to_owned).unwrap_or_default();
    INCLUDE
        .captures_iter(&chapter.text)
        .filter(|found| found.get(1).is_none())
        .filter_map(|found| {
            let line = chapter.line_of(found.get_match().start());
            let (message, hint) = include_fault(&found[2], &found[3], &folder)?;
            Some(Problem::at(&chapter.file, line, message).hint(hint))
        })
        .collect()
}

fn include_fault(word: &str, argument: &str, folder: &Path) -> Option<(String, String)> {
    match word {
        "title" => return None,
        "include" => {}
        other => {
            let hint = "show code with `{{source crate::item}}`, other files with `{{#include …}}`";
            return Some((
                format!("`{{{{#{other} …}}}}` is not used in this book"),
                hint.to_owned(),
            ));
        }
    }
    let mut parts = argument.splitn(2, ':');
    let file = parts.next().unwrap_or_default();
    let text = match fs::read_to_string(folder.join(file)) {
        Ok(text) => text,
        Err(error) => {
            return Some((
                format!("`{file}` cannot be included: {error}"),
                "the path is relative to the chapter".to_owned(),
            ));
        }
    };
    let anchor = parts.next().filter(|part| part.starts_with(|c: char| c.is_alphabetic()))?;
    let anchors: Vec<&str> =
        text.lines().filter_map(|line| line.split("ANCHOR: ").nth(1).map(str::trim)).collect();
    if anchors.contains(&anchor) {
        return None;
    }
    let hint = closest(anchor, anchors).map_or_else(
        || format!("mark it in the file with a comment `ANCHOR: {anchor}`"),
        |known| format!("did you mean `{known}`?"),
    );
    Some((format!("`{file}` has no anchor `{anchor}`"), hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directive;

    fn chapter(text: &str) -> Chapter {
        Chapter::new("Test", Path::new("src"), Path::new("a.md"), text)
    }

    fn decimals(text: &str) -> Vec<String> {
        let chapter = chapter(text);
        let (directives, _) = directive::find(&chapter, &[]);
        typed_decimals(&chapter, &directives).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_decimal_in_prose_math_table_html_or_caption_is_found_with_its_line() {
        let told = decimals(
            "About 0.51.\n\n$x = 1.5$\n\n| 2.25 |\n|---|\n\n<td>3.5</td>\n\n{{matrix a.b}}\n: says 4.5 {{value a.b1.5}}\n",
        );
        let numbers: Vec<_> = told
            .iter()
            .map(|line| (line.split(':').nth(1).unwrap(), line.split('`').nth(1).unwrap()))
            .collect();
        assert_eq!(
            numbers,
            [("1", "0.51"), ("3", "1.5"), ("5", "2.25"), ("8", "3.5"), ("11", "4.5")]
        );
    }

    #[test]
    fn code_links_tags_directives_and_whole_numbers_are_left_alone() {
        let told = decimals(
            "`0.5` and {{literal 0.17}} and 12 of [a paper](https://x.org/1706.03762) or \
             <https://x.org/1.5> or <a href=\"v1.2\">it</a> or [b].\n\n```text\n0.5\n```\n\n[b]: https://x.org/2.5\n",
        );
        assert_eq!(told, Vec::<String>::new());
    }

    #[test]
    fn an_include_that_finds_nothing_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/x.py"), "# ANCHOR: here\nx\n# ANCHOR_END: here\n")
            .unwrap();
        let chapter = chapter(
            "{{#include x.py}}\n{{#include x.py:here}}\n{{#include x.py:hree}}\n{{#include y.py}}\n\\{{#include z.py}}\n{{#playground x.rs}}\n{{#include x.py:1:2}}\n",
        );
        let told: Vec<_> =
            includes(&chapter, folder.path()).iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 3, "{told:#?}");
        assert_eq!(told[0], "src/a.md:3: `x.py` has no anchor `hree`; did you mean `here`?");
        assert!(told[1].starts_with("src/a.md:4: `y.py` cannot be included: "), "{told:?}");
        assert!(told[2].starts_with("src/a.md:6: `{{#playground …}}` is not used"), "{told:?}");
    }
}
