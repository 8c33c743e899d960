//! The weaver as a preprocessor of the stock `mdbook`: a book as JSON comes in
//! and goes out.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use ledger::Ledger;
use mdbook_preprocessor::book::BookItem;
use mdbook_preprocessor::{Preprocessor as _, parse_input};

use crate::assets;
use crate::cargo;
use crate::chapter::Chapter;
use crate::math::Math;
use crate::problem::Problems;
use crate::project::Project;
use crate::site::replace_contents;
use crate::snippet;
use crate::weaver::{typesetter, weave};

/// The renderer name under which `mdbook test` asks for its chapters.
const TEST: &str = "test";

/// Whether the preprocessor of that name has anything to do for a renderer.
#[must_use]
pub fn supports(name: &str, renderer: &str) -> bool {
    match name {
        "weave" => matches!(renderer, "html" | TEST),
        "katex" => renderer == "html",
        _ => false,
    }
}

/// Runs the preprocessor `weave` or `katex` on the book that mdBook hands over.
///
/// # Errors
///
/// What is handed over is not mdBook's, the name is unknown, or the book has
/// problems.
pub fn preprocess(
    name: &str,
    ledger: &Ledger,
    input: impl Read,
    mut output: impl Write,
) -> anyhow::Result<()> {
    let (context, mut book) = parse_input(input)?;
    match name {
        "weave" => {
            let project = Project::open(&context.root)?;
            let source = project.config().book.src.clone();
            let mut chapters = Vec::new();
            for item in book.iter() {
                if let BookItem::Chapter(chapter) = item
                    && let Some(path) = &chapter.source_path
                {
                    chapters.push(Chapter::new(&chapter.name, &source, path, &chapter.content));
                }
            }
            let contents = woven_contents(&project, ledger, chapters, context.renderer == TEST)?;
            replace_contents(&mut book, &contents);
        }
        "katex" => {
            let project = Project::open(&context.root)?;
            book = Math::new(typesetter(&project)?).run(&context, book)?;
        }
        other => anyhow::bail!("there is no preprocessor `{other}`; ask for `weave` or `katex`"),
    }
    serde_json::to_writer(&mut output, &book)?;
    Ok(output.flush()?)
}

fn woven_contents(
    project: &Project,
    ledger: &Ledger,
    chapters: Vec<Chapter>,
    for_test: bool,
) -> Result<HashMap<PathBuf, String>, Problems> {
    let woven = weave(project, ledger, chapters)?;
    let katex = assets::katex(project)?;
    let crates = cargo::packages(project, &project.settings().snippets, "snippets")?;
    let crates: Vec<&str> = crates.iter().map(|(name, _)| name.as_str()).collect();
    let contents = woven.chapters.into_iter().map(|woven| {
        let content = if for_test {
            with_crates(&woven.content, &crates)
        } else if woven.formulas.is_empty() {
            woven.content
        } else {
            format!("{}{}", katex.stylesheet(), woven.content)
        };
        (woven.chapter.path, content)
    });
    Ok(contents.collect())
}

/// `mdbook test` finds crates by `-L` alone, and those are unknown to a program
/// that does not name them: each program is given the lines, hidden.
fn with_crates(content: &str, crates: &[&str]) -> String {
    let chapter = Chapter::new("", Path::new(""), Path::new(""), content);
    let mut text = String::with_capacity(content.len());
    let mut done = 0;
    for fence in &chapter.fences {
        if fence.has("rust") && !fence.has("ignore") {
            text.push_str(&content[done..fence.body_range.start]);
            text.push_str(&snippet::with_extern_crates(&fence.body, crates));
            done = fence.body_range.end;
        }
    }
    text.push_str(&content[done..]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_name_their_crates_under_test_and_excerpts_do_not() {
        let content = "```rust\nfn main() {}\n```\n\n```rust,ignore\nfn part() {}\n```\n";
        let text = with_crates(content, &["attention"]);
        assert_eq!(
            text,
            "```rust\nfn main() {}\n# extern crate attention;\n```\n\n```rust,ignore\nfn part() {}\n```\n"
        );
    }
}
