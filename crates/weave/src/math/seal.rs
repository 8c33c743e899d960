//! Seals KaTeX's HTML, so that Markdown, which reads it next, changes nothing in
//! it. Only for KaTeX's HTML: it knows tags and text, and nothing else of HTML.

use std::fmt::Write as _;

/// Writes each character of the text between tags that could mean something to
/// Markdown as a numeric entity: the TeX in an annotation, `a_{ij} * b_{ij}`,
/// would otherwise come out with emphasis, and `\\` as `\`.
///
/// In tags, which Markdown passes on as they are, only `|` is replaced, at which
/// a table would be cut; and line ends become spaces, so that the formula stays
/// in its paragraph.
#[must_use]
pub fn seal(katex_html: &str) -> String {
    let mut sealed = String::with_capacity(2 * katex_html.len());
    let mut rest = katex_html;
    while let Some(open) = rest.find('<') {
        seal_text(&rest[..open], &mut sealed);
        let end = tag_end(&rest[open..]).map_or(rest.len(), |length| open + length);
        for c in rest[open..end].chars() {
            match c {
                '|' => sealed.push_str("&#124;"),
                '\n' => sealed.push(' '),
                c => sealed.push(c),
            }
        }
        rest = &rest[end..];
    }
    seal_text(rest, &mut sealed);
    sealed
}

/// The length of the tag that the text begins with; a `>` between quotes does
/// not end it.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '>') => return Some(at + 1),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
    }
    None
}

fn seal_text(text: &str, sealed: &mut String) {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let entity = entity_length(rest);
        if entity > 0 {
            sealed.push_str(&rest[..entity]);
            rest = &rest[entity..];
            continue;
        }
        match c {
            '\n' => sealed.push(' '),
            // Writing to a String cannot fail.
            c if c.is_ascii_punctuation() => {
                let _ = write!(sealed, "&#{};", u32::from(c));
            }
            c => sealed.push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
}

/// The length of the entity that the text begins with, 0 if it begins with none.
fn entity_length(text: &str) -> usize {
    let Some(name) = text.strip_prefix('&') else { return 0 };
    let length = name.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#');
    let length = length.count();
    if length > 0 && name[length..].starts_with(';') { length + 2 } else { 0 }
}
