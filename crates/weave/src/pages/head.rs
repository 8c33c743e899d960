//! What a page says of itself in its head: to search engines, and to those who
//! show a card where its address is shared.

use std::fmt::Write as _;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use scraper::Html;

use super::{Site, select};
use crate::chapter::markdown_options;
use crate::problem::{Problem, Problems};

/// The most letters of a description.
const LONGEST: usize = 160;

/// What a card shows of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card<'a> {
    /// What the page is about, in a sentence or two; see [`describe`].
    pub description: &'a str,
    /// The address of a picture, and what it shows, in words. Those who show
    /// cards want the address whole, host included, but a site that does not
    /// know its host can do no better than a path.
    pub image: Option<(&'a str, &'a str)>,
}

impl Site {
    /// Chapters' pages that have no title or no description.
    #[must_use]
    pub fn metadata(&self) -> Problems {
        let mut problems = Problems::default();
        for (name, page) in self.chapters() {
            let title = select(&page.html, "head > title").first().map(|t| t.text().collect());
            let description = select(&page.html, "head > meta[name=description]")
                .first()
                .and_then(|meta| meta.attr("content").map(str::to_owned));
            for (what, text) in [("title", title), ("description", description)] {
                if text.is_none_or(|text: String| text.trim().is_empty()) {
                    problems
                        .push(Problem::in_file(self.path(name), format!("the page has no {what}")));
                }
            }
        }
        problems
    }
}

/// A page with its own description, where mdBook has put the book's on every
/// page, and with a card for those who show one. A page that already has a card
/// keeps it.
#[must_use]
pub fn finish(html: &str, card: &Card) -> String {
    const DESCRIPTION: &str = "<meta name=\"description\" content=\"";
    let Some(end_of_head) = html.find("</head>") else { return html.to_owned() };
    let (head, rest) = html.split_at(end_of_head);
    let description = attribute(card.description);

    let mut head = head.to_owned();
    let described = head.find(DESCRIPTION).map(|at| at + DESCRIPTION.len());
    match described.and_then(|from| Some((from, from + head[from..].find('"')?))) {
        Some((from, to)) => head.replace_range(from..to, &description),
        None => {
            let _ = writeln!(head, "    {DESCRIPTION}{description}\">");
        }
    }
    if !head.contains("property=\"og:title\"") {
        let title = Html::parse_document(&head);
        let title: String = select(&title, "head > title")
            .first()
            .map(|title| title.text().collect())
            .unwrap_or_default();
        head.push_str(&card_tags(&title, card));
    }
    head + rest
}

fn card_tags(title: &str, card: &Card) -> String {
    let mut tags = String::new();
    let mut facts = vec![
        ("property", "og:type", "article"),
        ("property", "og:title", title.trim()),
        ("property", "og:description", card.description),
    ];
    if let Some((address, shows)) = card.image {
        facts.extend([
            ("property", "og:image", address),
            ("property", "og:image:alt", shows),
            ("name", "twitter:card", "summary_large_image"),
        ]);
    }
    for (name, key, content) in facts {
        // Writing to a String cannot fail.
        let _ = writeln!(tags, "    <meta {name}=\"{key}\" content=\"{}\">", attribute(content));
    }
    tags
}

fn attribute(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The first paragraph after a chapter's first heading, as plain text of at most
/// 160 letters: what the page is about. Empty if there is none.
///
/// The chapter's directives have to be expanded already. Formulas are read as
/// plainly as letters allow.
#[must_use]
pub fn describe(markdown: &str) -> String {
    let mut headed = false;
    let mut depth = 0;
    let mut text = String::new();
    for event in Parser::new_ext(markdown, markdown_options()) {
        match event {
            Event::End(TagEnd::Heading(_)) => headed = true,
            Event::Start(Tag::Paragraph) if headed => depth += 1,
            Event::End(TagEnd::Paragraph) if headed => {
                depth -= 1;
                let plain = plain(&text);
                if !plain.is_empty() {
                    return shortened(&plain);
                }
                text.clear();
            }
            Event::Text(part) | Event::Code(part) if depth > 0 => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak if depth > 0 => text.push(' '),
            _ => {}
        }
    }
    String::new()
}

/// The text with its formulas in letters, without the marks of checked claims.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for (index, part) in text.replace("$$", "$").split('$').enumerate() {
        if index % 2 == 0 {
            plain.push_str(part);
        } else {
            plain.push_str(&letters(part));
        }
    }
    let words: Vec<&str> = plain.split_whitespace().filter(|word| *word != "✓").collect();
    words.join(" ").replace('✓', "")
}

/// A formula in letters: `\frac{\Q}{\sqrt{d}}` as Q/√d.
fn letters(tex: &str) -> String {
    let mut letters = String::new();
    let mut parts = tex.split('\\');
    letters.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(part.len());
        let (command, rest) = part.split_at(end);
        letters.push_str(match command {
            "sqrt" => "√",
            "times" => "×",
            "cdot" => "·",
            "top" => "T",
            "infty" => "∞",
            "to" => "→",
            // How something is set is lost; a name, as in \alpha or \Q, is not.
            "frac" | "text" | "mathrm" | "mathbf" | "operatorname" | "left" | "right" => "",
            name => name,
        });
        letters.push_str(rest);
    }
    letters.replace("}{", "/").replace(['{', '}'], "")
}

/// At most so many letters, cut between words.
fn shortened(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut length = 1;
    for word in text.split(' ') {
        length += word.chars().count() + 1;
        if length > LONGEST {
            break;
        }
        short = if short.is_empty() { word.to_owned() } else { short + " " + word };
    }
    short.trim_end_matches([',', ';', ':', '.', '–', '—']).to_owned() + "…"
}
