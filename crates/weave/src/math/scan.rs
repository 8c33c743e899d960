//! Finds formulas with mdbook-katex's own scanner, and the dollar signs that it
//! would pair wrongly or pass over. It does not look into the formulas.

use std::ops::Range;

use mdbook_katex::preprocess::ExtraOpts;
use mdbook_katex::scan::{Event, Scan};
use pulldown_cmark::{Event as Markdown, Parser, Tag};

use crate::chapter::markdown_options;

/// A formula of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula<'a> {
    /// The TeX between the delimiters.
    pub tex: &'a str,
    /// The TeX's bytes in the text.
    pub range: Range<usize>,
    /// The formula's bytes in the text, delimiters included.
    pub outer: Range<usize>,
    /// Whether it stands on a line of its own.
    pub display: bool,
}

/// A dollar sign that does not do what its author meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slip {
    /// The sign's place in the text.
    pub offset: usize,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// The formulas of a text, and what is wrong with its dollar signs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scanned<'a> {
    /// The formulas, in order; none behind a slip that makes dollar signs pair
    /// wrongly from there on.
    pub formulas: Vec<Formula<'a>>,
    /// What is wrong, in order.
    pub slips: Vec<Slip>,
}

impl Scanned<'_> {
    fn slip(&mut self, offset: usize, message: &str, hint: &str) {
        self.slips.push(Slip { offset, message: message.to_owned(), hint: hint.to_owned() });
    }
}

pub(super) fn scan<'a>(text: &'a str, delimiters: &ExtraOpts) -> Scanned<'a> {
    let mut found = Scanned::default();
    let code = code_blocks(text);
    let mut scan = Scan::new(text, &delimiters.block_delimiter, &delimiters.inline_delimiter);
    let mut begin = 0;
    for event in scan.by_ref() {
        let (end, display) = match event {
            Event::Begin(at) => {
                begin = at;
                continue;
            }
            Event::TextEnd(_) => continue,
            Event::InlineEnd(end) => (end, false),
            Event::BlockEnd(end) => (end, true),
        };
        let delimiter =
            if display { &delimiters.block_delimiter } else { &delimiters.inline_delimiter };
        let outer = begin - delimiter.left.len()..end + delimiter.right.len();
        let formula = Formula { tex: &text[begin..end], range: begin..end, outer, display };
        if !found.take(formula, &code) {
            return found;
        }
    }
    // What the scanner has begun and not handed out is a formula without an end.
    let resumed = found.formulas.last().map_or(0, |formula| formula.outer.end);
    if !scan.events.is_empty() {
        let offset = scan.events.iter().find_map(|event| match event {
            Event::TextEnd(at) => Some(*at),
            _ => None,
        });
        found.slip(offset.unwrap_or(0), "nothing closes this formula", ESCAPE);
    } else if let Some(offset) = open_backtick(text, resumed)
        && text[offset..].contains(&delimiters.inline_delimiter.left)
    {
        found.slip(
            offset,
            "nothing closes this backtick, and no formula after it is typeset",
            r"close it, or write `\`` for a backtick",
        );
    }
    found
}

const ESCAPE: &str = r"close it, or write `\$` for a dollar sign";

impl<'a> Scanned<'a> {
    /// Takes up a formula. False if the dollar signs after it are sure to be
    /// paired wrongly.
    fn take(&mut self, formula: Formula<'a>, code: &[Range<usize>]) -> bool {
        let offset = formula.outer.start;
        let tex = formula.tex;
        let lines: Vec<&str> = tex.split('\n').collect();
        // Those with the delimiters may be blank.
        let between = lines.get(1..lines.len() - 1).unwrap_or_default();
        if between.iter().any(|line| line.trim().is_empty()) {
            self.slip(offset, "this formula runs on across a blank line", ESCAPE);
            return false;
        }
        if lines.iter().skip(1).any(|line| line.trim_start().starts_with('>')) {
            self.slip(
                offset,
                "a line of this formula begins with `>`, which would be typeset",
                "in a quotation, write the formula on one line",
            );
        } else if code.iter().any(|range| range.contains(&offset)) {
            self.slip(
                offset,
                "this formula would be typeset inside a block of code",
                "fence the code with backticks",
            );
        } else if !formula.display && tex != tex.trim() {
            self.slip(
                offset,
                "this formula begins or ends with a space",
                r"take the space out, or write `\$` for a dollar sign",
            );
        }
        self.formulas.push(formula);
        true
    }
}

/// The blocks of code, which the scanner knows only by their backticks.
fn code_blocks(text: &str) -> Vec<Range<usize>> {
    Parser::new_ext(text, markdown_options())
        .into_offset_iter()
        .filter(|(event, _)| matches!(event, Markdown::Start(Tag::CodeBlock(_))))
        .map(|(_, range)| range)
        .collect()
}

/// The first backticks, at or after `from`, that no equal run of backticks
/// closes: the scanner gives up there.
fn open_backtick(text: &str, from: usize) -> Option<usize> {
    let run = |at: usize| text[at..].bytes().take_while(|&byte| byte == b'`').count();
    let mut at = from;
    loop {
        at += text[at..].find(['`', '\\'])?;
        if text[at..].starts_with('\\') {
            at += 1 + text[at + 1..].chars().next()?.len_utf8();
            continue;
        }
        let (open, length) = (at, run(at));
        at += length;
        loop {
            let Some(next) = text[at..].find('`') else { return Some(open) };
            at += next;
            let closing = run(at);
            at += closing;
            if closing == length {
                break;
            }
        }
    }
}
