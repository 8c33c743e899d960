//! The tables of the page that shows how the book is checked: every value,
//! every claim and every program, with the code behind it and the chapters
//! that show it. A reader comes here from a number and goes on to the code.

use std::fmt::Write as _;
use std::path::Path;

use ledger::{Entry, Ledger, Value};

use crate::excerpt::Crates;
use crate::render::{Addresses, escape};
use crate::snippet::Snippet;
use crate::weaver::{Quote, Quotes};

/// The table of every value that is not a claim.
pub(crate) fn values(
    ledger: &Ledger,
    quotes: &Quotes,
    crates: &Crates,
    addresses: &Addresses,
) -> String {
    let rows = ledger
        .entries()
        .filter(|entry| !is_claim(entry))
        .map(|entry| row(entry, &summary(entry), quotes, crates, addresses));
    table("Every value of the book", ["Value", "Shown", "Computed by", "Quoted in"], rows)
}

/// The table of every claim.
pub(crate) fn claims(
    ledger: &Ledger,
    quotes: &Quotes,
    crates: &Crates,
    addresses: &Addresses,
) -> String {
    let rows = ledger.entries().filter(|entry| is_claim(entry)).map(|entry| {
        let statement = escape(entry.description().unwrap_or("holds"));
        row(entry, &statement, quotes, crates, addresses)
    });
    table("Every claim of the book", ["Claim", "What it says", "Held by", "Made in"], rows)
}

/// The table of every program shown in a chapter.
pub(crate) fn snippets(snippets: &[Snippet], source: &Path, addresses: &Addresses) -> String {
    let rows = snippets.iter().map(|snippet| {
        let chapter = snippet.file.strip_prefix(source).unwrap_or(&snippet.file);
        let page = chapter.with_extension("html").to_string_lossy().replace('\\', "/");
        let output = if snippet.output.is_some() { "compared" } else { "none shown" };
        format!(
            r#"<tr><th scope="row"><a href="{root}{page}">{file}</a></th><td>{line}</td><td>{lines}</td><td>{output}</td></tr>"#,
            root = addresses.root,
            file = escape(&snippet.file.to_string_lossy().replace('\\', "/")),
            line = snippet.line,
            lines = snippet.code.lines().count(),
        )
    });
    table("Every program of the book", ["File", "Line", "Length in lines", "Output"], rows)
}

fn is_claim(entry: &Entry) -> bool {
    matches!(entry.value(), Value::Claim(_))
}

/// A value in a few words: short ones in full, tables by their shape.
fn summary(entry: &Entry) -> String {
    match entry.value() {
        Value::Matrix(table, _) => format!("matrix, {} × {}", table.nrows(), table.ncols()),
        Value::Vector(row, _) => format!("vector of {}", row.len()),
        Value::Figure(_) => "figure".to_owned(),
        Value::Widget(_) => "widget".to_owned(),
        Value::Text(_) => "text".to_owned(),
        _ => escape(&entry.shown()),
    }
}

fn row(
    entry: &Entry,
    shown: &str,
    quotes: &Quotes,
    crates: &Crates,
    addresses: &Addresses,
) -> String {
    let name = entry.name();
    let about = match entry.description().filter(|_| !is_claim(entry)) {
        Some(about) => format!("<br><small>{}</small>", escape(about)),
        None => String::new(),
    };
    format!(
        r#"<tr id="{name}"><th scope="row"><code>{name}</code>{about}</th><td>{shown}</td><td>{origin}</td><td>{places}</td></tr>"#,
        origin = origin(entry.maker(), crates, addresses),
        places = places(quotes.get(name).map_or(&[], Vec::as_slice), addresses),
    )
}

/// The function that made a value, and those of the other crates it calls.
fn origin(maker: &str, crates: &Crates, addresses: &Addresses) -> String {
    let Ok(item) = crates.item(maker) else {
        return format!("<code>{}</code>", escape(maker));
    };
    let mut html = source_link(maker, item.source_page(), addresses);
    let own = maker.split("::").next().unwrap_or_default();
    let others: Vec<&str> = crates.names().filter(|name| *name != own).collect();
    let uses: Vec<String> = crates
        .uses_of(maker, &others)
        .into_iter()
        .filter_map(|path| {
            let item = crates.item(&path).ok()?;
            Some(source_link(&path, item.source_page(), addresses))
        })
        .collect();
    if !uses.is_empty() {
        let _ = write!(html, "<br><small>with {}</small>", uses.join(", "));
    }
    html
}

fn source_link(path: &str, page: &str, addresses: &Addresses) -> String {
    format!(r#"<a href="{}"><code>{}</code></a>"#, addresses.of_api(page), escape(path))
}

/// The chapters that quote a value, each once.
fn places(quotes: &[Quote], addresses: &Addresses) -> String {
    let mut links: Vec<String> = quotes
        .iter()
        .map(|quote| {
            let page = quote.path.with_extension("html").to_string_lossy().replace('\\', "/");
            format!(r#"<a href="{}{page}">{}</a>"#, addresses.root, escape(&quote.chapter))
        })
        .collect();
    links.dedup();
    links.join(", ")
}

fn table(label: &str, heads: [&str; 4], rows: impl Iterator<Item = String>) -> String {
    let mut html = format!(
        r#"<div class="scroll" tabindex="0" role="group" aria-label="{label}"><table class="checked" aria-label="{label}"><thead><tr>"#
    );
    for head in heads {
        let _ = write!(html, r#"<th scope="col">{head}</th>"#);
    }
    html.push_str("</tr></thead><tbody>");
    html.extend(rows);
    html.push_str("</tbody></table></div>");
    html
}
