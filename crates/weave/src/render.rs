//! How a value stands on a page: in a sentence, in a formula, as a table. The
//! HTML is one line without blank lines, so that Markdown takes it as it is.

use std::fmt::Write as _;

use ledger::{Entry, Value, number};

/// The way from a chapter to the root of the site, and to the page that lists
/// every value.
#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    /// `../` for a chapter in a folder.
    pub(crate) root: String,
    /// The page of checked values, from the root of the site.
    pub(crate) checked: String,
}

impl Addresses {
    /// The address of a value's row on the page of checked values.
    pub(crate) fn of_value(&self, name: &str) -> String {
        format!("{}{}#{name}", self.root, self.checked)
    }

    /// The address of a page of the crates' documentation.
    pub(crate) fn of_api(&self, page: &str) -> String {
        format!("{}api/{page}", self.root)
    }
}

/// Escapes text for HTML, in element content and in quoted attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // Markdown and KaTeX would take these as their own.
            '$' => escaped.push_str("&#36;"),
            '*' => escaped.push_str("&#42;"),
            '_' => escaped.push_str("&#95;"),
            '`' => escaped.push_str("&#96;"),
            '\\' => escaped.push_str("&#92;"),
            '\n' => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A value in a sentence: the text it shows, linked to where it comes from.
pub(crate) fn inline(entry: &Entry, addresses: &Addresses) -> Result<String, String> {
    match entry.value() {
        Value::Count(_) | Value::Scalar(..) | Value::Text(_) => {}
        other => {
            let directive = match other {
                Value::Claim(_) => "claim",
                Value::Figure(_) => "figure",
                Value::Widget(_) => "widget",
                _ => "matrix",
            };
            return Err(format!("is a {}; quote it with `{{{{{directive} …}}}}`", other.kind()));
        }
    }
    let (address, name) = (addresses.of_value(entry.name()), entry.name());
    let shown = escape(&entry.shown());
    Ok(format!(r#"<a class="value" href="{address}" title="{name}">{shown}</a>"#))
}

/// The mark behind a sentence that code holds true.
pub(crate) fn claim(entry: &Entry, addresses: &Addresses) -> Result<String, String> {
    match entry.value() {
        Value::Claim(Ok(())) => Ok(format!(
            r#"<a class="claim" href="{}" title="Checked: {name}" aria-label="checked: {name}">✓</a>"#,
            addresses.of_value(entry.name()),
            name = entry.name()
        )),
        Value::Claim(Err(reason)) => Err(format!("does not hold: {reason}")),
        other => Err(format!("is a {}, not a claim", other.kind())),
    }
}

/// A value in a formula.
pub(crate) fn tex(entry: &Entry) -> Result<String, String> {
    entry.tex().ok_or_else(|| format!("is a {}, which has no TeX", entry.value().kind()))
}

/// A matrix or vector as a table with its labels, each cell shaded by its size,
/// in a box of its own that scrolls where the page is narrow.
pub(crate) fn matrix(
    entry: &Entry,
    caption: Option<&str>,
    addresses: &Addresses,
) -> Result<String, String> {
    let rows: Vec<Vec<f64>> = match entry.value() {
        Value::Vector(row, _) => vec![row.to_vec()],
        Value::Matrix(table, _) => table.rows().into_iter().map(|row| row.to_vec()).collect(),
        other => return Err(format!("is a {}, not a matrix", other.kind())),
    };
    let name = entry.name();
    let symbol = entry.letter().unwrap_or_default();
    let label = escape(&table_label(entry));
    let table = table(entry, &rows);
    let words = caption.map(str::to_owned).unwrap_or_else(|| {
        let about = escape(entry.description().unwrap_or_default());
        if symbol.is_empty() { about } else { format!("${symbol}$: {about}") }
    });
    let address = addresses.of_value(name);
    Ok(format!(
        r#"<figure class="matrix" data-symbol="{symbol}"><div class="scroll" tabindex="0" role="group" aria-label="{label}"><table aria-label="{label}">{table}</table></div><figcaption>{words} <a class="origin" href="{address}">{name}</a></figcaption></figure>"#
    ))
}

/// What a listener hears before the cells: the letter, what it is, its shape.
fn table_label(entry: &Entry) -> String {
    let (rows, columns) = entry.value().shape();
    let mut label = entry.letter().unwrap_or(entry.name()).replace('\\', "");
    if let Some(about) = entry.description() {
        let _ = write!(label, ": {about}");
    }
    let plural = |count: usize, what: &str| {
        if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
    };
    let _ = write!(label, ", {}, {}", plural(rows, "row"), plural(columns, "column"));
    label
}

fn table(entry: &Entry, rows: &[Vec<f64>]) -> String {
    let largest = rows
        .iter()
        .flatten()
        .filter(|cell| cell.is_finite())
        .fold(0.0_f64, |largest, cell| largest.max(cell.abs()));
    let has_row_labels = !entry.row_labels().is_empty();
    let mut html = String::new();
    if !entry.column_labels().is_empty() {
        html.push_str("<thead><tr>");
        if has_row_labels {
            html.push_str("<td></td>");
        }
        for label in entry.column_labels() {
            let _ = write!(html, r#"<th scope="col">{}</th>"#, escape(label));
        }
        html.push_str("</tr></thead>");
    }
    html.push_str("<tbody>");
    for (index, row) in rows.iter().enumerate() {
        html.push_str("<tr>");
        if let Some(label) = entry.row_labels().get(index) {
            let _ = write!(html, r#"<th scope="row">{}</th>"#, escape(label));
        }
        for &value in row {
            html.push_str(&cell(value, entry.shown_digits(), largest));
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody>");
    html
}

fn cell(value: f64, digits: u8, largest: f64) -> String {
    let shown = number(value, digits);
    if !value.is_finite() {
        return format!(r#"<td class="closed">{shown}</td>"#);
    }
    let shade = if largest > 0.0 { value.abs() / largest } else { 0.0 };
    let class = if shown.starts_with('−') { r#" class="negative""# } else { "" };
    format!(r#"<td{class} style="--shade:{shade:.2}">{shown}</td>"#)
}

/// A plot with its caption.
pub(crate) fn figure(
    entry: &Entry,
    caption: Option<&str>,
    addresses: &Addresses,
) -> Result<String, String> {
    let Value::Figure(figure) = entry.value() else {
        return Err(format!("is a {}, not a figure", entry.value().kind()));
    };
    let svg = crate::figure::svg(figure)?;
    let name = entry.name();
    let words =
        caption.map_or_else(|| escape(entry.description().unwrap_or_default()), str::to_owned);
    let address = addresses.of_value(name);
    Ok(format!(
        r#"<figure class="plot">{svg}<figcaption>{words} <a class="origin" href="{address}">{name}</a></figcaption></figure>"#
    ))
}

/// A widget: its element, in it the sentence for where no script runs, and the
/// data that it starts with.
pub(crate) fn widget(
    entry: &Entry,
    caption: Option<&str>,
    addresses: &Addresses,
) -> Result<String, String> {
    let Value::Widget(widget) = entry.value() else {
        return Err(format!("is a {}, not a widget", entry.value().kind()));
    };
    let (name, element) = (entry.name(), &widget.element);
    let words =
        caption.map_or_else(|| escape(entry.description().unwrap_or_default()), str::to_owned);
    let address = addresses.of_value(name);
    Ok(format!(
        r#"<figure class="widget"><{element} data-name="{name}"><p class="widget-fallback">{fallback}</p><script type="application/json">{data}</script></{element}><figcaption>{words} <a class="origin" href="{address}">{name}</a></figcaption></figure>"#,
        fallback = escape(&widget.fallback),
        data = escape_json(&widget.data),
    ))
}

/// Spells JSON on one line so that it can stand in a script element of a page:
/// without the signs that HTML, Markdown, KaTeX or mdBook would take as theirs.
/// Between its strings JSON has none of them.
fn escape_json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '$' | '`' => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(c));
            }
            '\n' | '\r' => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger::{Ledger, Widget};
    use ndarray::{Array2, array};

    fn half() -> f64 {
        -0.504
    }
    fn table() -> Array2<f64> {
        array![[1.0, f64::NEG_INFINITY], [-0.25, 0.5]]
    }
    fn holds() -> bool {
        true
    }
    fn fails() -> Result<(), String> {
        Err("1 is less than 2".to_owned())
    }

    fn addresses() -> Addresses {
        Addresses { root: "../".to_owned(), checked: "appendix/checked.html".to_owned() }
    }

    fn ledger() -> Ledger {
        let mut ledger = Ledger::new();
        ledger.enter("t.half", half);
        ledger
            .enter("t.table", table)
            .rows(&["a<b", "c"])
            .columns(&["x", "y"])
            .symbol("W_Q")
            .about("the weights");
        ledger.enter("t.holds", holds);
        ledger.enter("t.fails", fails);
        ledger
    }

    #[test]
    fn a_value_in_a_sentence_links_to_its_origin() {
        let ledger = ledger();
        assert_eq!(
            inline(ledger.get("t.half").unwrap(), &addresses()).unwrap(),
            r#"<a class="value" href="../appendix/checked.html#t.half" title="t.half">−0.50</a>"#
        );
        let error = inline(ledger.get("t.table").unwrap(), &addresses()).unwrap_err();
        assert_eq!(error, "is a matrix; quote it with `{{matrix …}}`");
        assert_eq!(tex(ledger.get("t.half").unwrap()).unwrap(), "-0.50");
    }

    #[test]
    fn a_claim_is_marked_only_if_it_holds() {
        let ledger = ledger();
        assert!(claim(ledger.get("t.holds").unwrap(), &addresses()).unwrap().contains('✓'));
        let error = claim(ledger.get("t.fails").unwrap(), &addresses()).unwrap_err();
        assert_eq!(error, "does not hold: 1 is less than 2");
        let error = claim(ledger.get("t.half").unwrap(), &addresses()).unwrap_err();
        assert_eq!(error, "is a scalar, not a claim");
    }

    #[test]
    fn a_matrix_becomes_a_labelled_shaded_table_on_one_line() {
        let ledger = ledger();
        let html = matrix(ledger.get("t.table").unwrap(), None, &addresses()).unwrap();
        for part in [
            r#"data-symbol="W_Q""#,
            r#"aria-label="W&#95;Q: the weights, 2 rows, 2 columns""#,
            r#"<td></td><th scope="col">x</th>"#,
            r#"<th scope="row">a&lt;b</th><td style="--shade:1.00">1.00</td><td class="closed">−∞</td>"#,
            r#"<td class="negative" style="--shade:0.25">−0.25</td>"#,
            "<figcaption>$W_Q$: the weights <a",
        ] {
            assert!(html.contains(part), "{part} is not in {html}");
        }
        assert!(!html.contains('\n'));
        let captioned =
            matrix(ledger.get("t.table").unwrap(), Some("Look here"), &addresses()).unwrap();
        assert!(captioned.contains("<figcaption>Look here <a"), "{captioned}");
    }

    fn toy() -> Widget {
        Widget {
            element: "toy-box".to_owned(),
            fallback: "Here a <script> would run.".to_owned(),
            data: "{\"text\": \"</script> & $x$ `y` \\\\\",\n\"n\": 1}".to_owned(),
        }
    }

    #[test]
    fn a_widgets_data_stands_in_the_page_and_cannot_leave_its_script() {
        let mut ledger = Ledger::new();
        ledger.enter("t.toy", toy).about("a box");
        ledger.enter("t.half", half);
        let html = widget(ledger.get("t.toy").unwrap(), None, &addresses()).unwrap();
        let data = html.split(r#"<script type="application/json">"#).nth(1).unwrap();
        let data = data.split("</script>").next().unwrap();
        assert_eq!(
            data,
            r#"{"text": "\u003c/script\u003e \u0026 \u0024x\u0024 \u0060y\u0060 \\", "n": 1}"#
        );
        let read: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!(read["text"], r"</script> & $x$ `y` \");
        for part in [
            r#"<toy-box data-name="t.toy"><p class="widget-fallback">Here a &lt;script&gt; would run.</p>"#,
            "</toy-box><figcaption>a box <a",
        ] {
            assert!(html.contains(part), "{part} is not in {html}");
        }
        assert!(!html.contains('\n'));
        let error = widget(ledger.get("t.half").unwrap(), None, &addresses()).unwrap_err();
        assert_eq!(error, "is a scalar, not a widget");
    }
}
