//! The source text of one item, cut out for a page: documentation left out,
//! indentation of its surroundings taken away.

use std::ops::Range;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::{AttrStyle, Attribute};

/// An item's lines in its file, and its text.
pub(super) struct Excerpt {
    pub(super) first_line: usize,
    pub(super) last_line: usize,
    pub(super) code: String,
}

/// Cuts the item that `span` covers out of `text`. Its outer attributes are
/// left out, but for `#[derive]`.
pub(super) fn excerpt(text: &str, attributes: &[Attribute], span: Span) -> Excerpt {
    let outer = || attributes.iter().filter(|each| matches!(each.style, AttrStyle::Outer));
    let whole = span.byte_range();
    let after_attributes =
        outer().map(|each| span_of(each).byte_range().end).max().unwrap_or(whole.start);
    let signature = after_attributes + blank_prefix(&text[after_attributes..whole.end]);
    let derives: Vec<_> = outer()
        .filter(|each| each.path().is_ident("derive"))
        .map(|each| span_of(each).byte_range())
        .collect();
    let first = derives.first().map_or(signature, |derive| derive.start);

    let mut code = String::new();
    for derive in &derives {
        code += &dedented(text, derive.clone());
        code.push('\n');
    }
    code += &dedented(text, signature..whole.end);
    Excerpt {
        first_line: line_at(text, first),
        last_line: line_at(text, whole.end.saturating_sub(1).max(first)),
        code,
    }
}

/// The part of a file behind its `//!` lines and blank lines, for a module that
/// is a file of its own.
pub(super) fn whole_file(text: &str) -> Excerpt {
    let documentation = |line: &str| {
        let line = line.trim();
        line.is_empty() || line.starts_with("//!")
    };
    let skipped = text.lines().take_while(|line| documentation(line)).count();
    let lines: Vec<_> = text.lines().skip(skipped).collect();
    Excerpt {
        first_line: skipped + 1,
        last_line: (skipped + lines.len()).max(skipped + 1),
        code: lines.join("\n"),
    }
}

fn span_of(attribute: &Attribute) -> Span {
    syn::spanned::Spanned::span(attribute)
}

fn blank_prefix(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

fn line_at(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset].iter().filter(|&&byte| byte == b'\n').count()
}

/// The text of `range` with as much indentation taken from each line as its
/// first line has. Lines that begin inside a literal are part of a string and
/// stay as they are.
fn dedented(text: &str, range: Range<usize>) -> String {
    let line_start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let depth = blank_prefix(&text[line_start..range.start]);
    let code = &text[range];
    let literals = code.parse().map(literal_lines).unwrap_or_default();
    let lines = code.lines().enumerate().map(|(index, line)| {
        let in_literal = literals.iter().any(|lines| lines.contains(&(index + 1)));
        if in_literal { line } else { &line[blank_prefix(line).min(depth)..] }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The lines, from 1, on which a literal goes on that began further up.
fn literal_lines(tokens: TokenStream) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => lines.extend(literal_lines(group.stream())),
            TokenTree::Literal(literal) => {
                lines.push(literal.span().start().line + 1..literal.span().end().line + 1);
            }
            _ => {}
        }
    }
    lines
}
