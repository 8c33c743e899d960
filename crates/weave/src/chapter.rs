//! A chapter as it was written: its text, where its lines begin, and which
//! parts of it are code, in which nothing is woven.

use std::ops::Range;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

/// A chapter's Markdown with what the weaver needs to know of it.
#[derive(Clone, Debug)]
pub struct Chapter {
    /// The title in the table of contents.
    pub name: String,
    /// The file, relative to the book's root: `book/src/attention/soft-lookup.md`.
    pub file: PathBuf,
    /// The file, relative to the chapters' folder: `attention/soft-lookup.md`.
    pub path: PathBuf,
    /// The Markdown.
    pub text: String,
    /// The fenced code blocks, in order.
    pub fences: Vec<Fence>,
    code: Vec<Range<usize>>,
}

/// A fenced block of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    /// What stands behind the opening backticks: `rust`, `text,output`.
    pub info: String,
    /// The line of the opening backticks, from 1; the code begins on the next.
    pub line: usize,
    /// The whole block's bytes in the chapter's text, backticks included.
    pub range: Range<usize>,
    /// The code's bytes in the chapter's text.
    pub body_range: Range<usize>,
    /// The code.
    pub body: String,
}

impl Fence {
    /// The words of the info string, which commas or spaces separate.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.info.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty())
    }

    /// Whether the info string holds that word.
    #[must_use]
    pub fn has(&self, word: &str) -> bool {
        self.words().any(|each| each == word)
    }
}

/// The Markdown extensions that mdBook turns on.
#[must_use]
pub fn markdown_options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_DEFINITION_LIST
        | Options::ENABLE_GFM
}

impl Chapter {
    /// Reads a chapter's Markdown. `source` is the chapters' folder relative to
    /// the book's root, `path` the file in that folder.
    #[must_use]
    pub fn new(name: &str, source: &Path, path: &Path, text: &str) -> Chapter {
        let (fences, code) = find_code(text);
        Chapter {
            name: name.to_owned(),
            file: source.join(path),
            path: path.to_owned(),
            text: text.to_owned(),
            fences,
            code,
        }
    }

    /// The line, from 1, on which a byte of the text stands.
    #[must_use]
    pub fn line_of(&self, offset: usize) -> usize {
        line_of(&self.text, offset)
    }

    /// Whether a byte of the text stands in a code block or a code span.
    #[must_use]
    pub fn in_code(&self, offset: usize) -> bool {
        self.code.iter().any(|range| range.contains(&offset))
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset].iter().filter(|&&byte| byte == b'\n').count()
}

fn find_code(text: &str) -> (Vec<Fence>, Vec<Range<usize>>) {
    let mut fences = Vec::new();
    let mut code = Vec::new();
    for (event, range) in Parser::new_ext(text, markdown_options()).into_offset_iter() {
        match event {
            Event::Code(_) => code.push(range),
            Event::Start(Tag::CodeBlock(kind)) => {
                code.push(range.clone());
                if let CodeBlockKind::Fenced(info) = kind {
                    fences.push(fence(text, &info, range));
                }
            }
            _ => {}
        }
    }
    (fences, code)
}

fn fence(text: &str, info: &str, range: Range<usize>) -> Fence {
    let block = &text[range.clone()];
    let body_start = block.find('\n').map_or(block.len(), |at| at + 1);
    let trimmed = block.trim_end_matches('\n');
    let last_line = trimmed.rfind('\n').map_or(0, |at| at + 1);
    let closes = trimmed[last_line..].trim_start().starts_with(['`', '~']) && last_line > 0;
    let body_end = if closes { last_line.max(body_start) } else { block.len() };
    let body_range = range.start + body_start..range.start + body_end;
    Fence {
        info: info.to_owned(),
        line: line_of(text, range.start),
        body: text[body_range.clone()].to_owned(),
        range,
        body_range,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Title\n\nSome `code` here.\n\n```rust\nfn main() {}\n```\n\n```text,output\n```\n\nEnd.\n";

    fn chapter() -> Chapter {
        Chapter::new("Title", Path::new("src"), Path::new("a/b.md"), TEXT)
    }

    #[test]
    fn fences_are_found_with_their_lines_and_bodies() {
        let chapter = chapter();
        assert_eq!(chapter.file, Path::new("src/a/b.md"));
        let [program, output] = &chapter.fences[..] else { panic!("{:?}", chapter.fences) };
        assert_eq!((program.line, program.body.as_str()), (5, "fn main() {}\n"));
        assert_eq!(&TEXT[program.body_range.clone()], program.body);
        assert_eq!((output.line, output.body.as_str()), (9, ""));
        assert!(output.has("text") && output.has("output") && !output.has("rust"));
    }

    #[test]
    fn code_is_told_from_prose() {
        let chapter = chapter();
        let offset = |word| TEXT.find(word).unwrap();
        assert!(chapter.in_code(offset("code")));
        assert!(chapter.in_code(offset("main")));
        assert!(!chapter.in_code(offset("Some")));
        assert!(!chapter.in_code(offset("End")));
        assert_eq!(chapter.line_of(offset("End")), 12);
    }
}
