//! The ledger: entries under names, and what is wrong with them.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;

use crate::number::{near_rounding_boundary, number, number_tex};
use crate::value::{Quotable, Value};

/// Every value a book may quote, by name.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    entries: BTreeMap<String, Entry>,
    faults: Vec<Fault>,
}

/// A value with its name, its digits, its labels and its origin.
#[derive(Clone, Debug)]
pub struct Entry {
    name: String,
    value: Value,
    digits: u8,
    rows: Vec<String>,
    columns: Vec<String>,
    symbol: Option<String>,
    about: Option<String>,
    maker: String,
    entered_at: Origin,
}

/// The line of code that entered a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The source file, as the compiler was given it.
    pub file: String,
    /// The line in it, from 1.
    pub line: u32,
}

/// Something wrong with an entry, found before any page is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where the value was entered.
    pub at: Origin,
    /// What is wrong, and with which value.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} ({})", self.at.file, self.at.line, self.message, self.hint)
    }
}

impl Ledger {
    /// An empty ledger.
    #[must_use]
    pub fn new() -> Ledger {
        Ledger::default()
    }

    /// Enters what `function` returns under `name`.
    ///
    /// The kind follows from the return type (see [`Quotable`]); the entry can
    /// then be given digits, labels, a symbol and a description. A name is
    /// lower-case words joined by dots, such as `qkv.the.attends.cat`. What is
    /// wrong with the name, the function or its value is kept as a fault, and
    /// all faults are reported together: see [`Ledger::faults`].
    #[track_caller]
    pub fn enter<T, F>(&mut self, name: &str, function: F) -> &mut Entry
    where
        T: Quotable,
        F: Fn() -> T,
    {
        let caller = Location::caller();
        let at = Origin { file: caller.file().replace('\\', "/"), line: caller.line() };
        let maker = function_path(&function);
        self.check_name(name, &maker, &at);
        let value = function().into_value().unwrap_or_else(|error| {
            self.fault(
                &at,
                format!("`{name}` could not be computed: {error}"),
                format!("see `{maker}`"),
            );
            Value::Text(String::new())
        });
        let entry = Entry {
            name: name.to_owned(),
            digits: 2,
            rows: Vec::new(),
            columns: Vec::new(),
            symbol: None,
            about: None,
            value,
            maker,
            entered_at: at,
        };
        self.entries.entry(name.to_owned()).insert_entry(entry).into_mut()
    }

    /// The entry of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// All entries, sorted by name.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// Everything wrong with the entries: names that are no names or are taken,
    /// closures, values that could not be computed, labels that do not fit, and
    /// values so close to a rounding boundary that another processor could
    /// print another digit.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = self.faults.clone();
        faults.extend(self.entries.values().flat_map(Entry::faults));
        faults.sort_by(|a, b| (&a.at.file, a.at.line).cmp(&(&b.at.file, b.at.line)));
        faults
    }

    fn check_name(&mut self, name: &str, maker: &str, at: &Origin) {
        if !is_name(name) {
            self.fault(
                at,
                format!("`{name}` is not a value's name"),
                "use lower-case words joined by dots, such as `qkv.the.attends.cat`".to_owned(),
            );
        }
        if maker.contains("{{closure}}") || maker.contains("fn(") {
            self.fault(
                at,
                format!("`{name}` is made by a closure or pointer, which a reader cannot look up"),
                "hand over a named function".to_owned(),
            );
        }
        if let Some(first) = self.entries.get(name) {
            let Origin { file, line } = first.entered_at.clone();
            self.fault(
                at,
                format!("`{name}` is entered twice"),
                format!("it was first entered at {file}:{line}; choose another name"),
            );
        }
    }

    fn fault(&mut self, at: &Origin, message: String, hint: String) {
        self.faults.push(Fault { at: at.clone(), message, hint });
    }
}

impl Entry {
    /// Sets how many digits after the point are shown; 2 unless set.
    pub fn digits(&mut self, digits: u8) -> &mut Entry {
        self.digits = digits;
        self
    }

    /// Names the rows of a matrix.
    pub fn rows<S: AsRef<str>>(&mut self, labels: &[S]) -> &mut Entry {
        self.rows = labels.iter().map(|label| label.as_ref().to_owned()).collect();
        self
    }

    /// Names the columns of a matrix or the numbers of a vector.
    pub fn columns<S: AsRef<str>>(&mut self, labels: &[S]) -> &mut Entry {
        self.columns = labels.iter().map(|label| label.as_ref().to_owned()).collect();
        self
    }

    /// Gives the letter by which the book knows the value, in TeX: `Q`, `W_Q`.
    pub fn symbol(&mut self, symbol: &str) -> &mut Entry {
        self.symbol = Some(symbol.to_owned());
        self
    }

    /// Says in words what the value is.
    pub fn about(&mut self, about: &str) -> &mut Entry {
        self.about = Some(about.to_owned());
        self
    }

    /// The name under which chapters quote the value.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value itself.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// How many digits after the point are shown.
    #[must_use]
    pub fn shown_digits(&self) -> u8 {
        self.digits
    }

    /// The labels of the rows: empty, or one a row.
    #[must_use]
    pub fn row_labels(&self) -> &[String] {
        &self.rows
    }

    /// The labels of the columns: empty, or one a column.
    #[must_use]
    pub fn column_labels(&self) -> &[String] {
        &self.columns
    }

    /// The letter by which the book knows the value, in TeX.
    #[must_use]
    pub fn letter(&self) -> Option<&str> {
        self.symbol.as_deref()
    }

    /// What the value is, in words.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.about.as_deref()
    }

    /// The path of the function that computed the value.
    #[must_use]
    pub fn maker(&self) -> &str {
        &self.maker
    }

    /// Where the value was entered.
    #[must_use]
    pub fn entered_at(&self) -> &Origin {
        &self.entered_at
    }

    /// The value as plain text: what the lock remembers, and what a page that
    /// quotes it shows.
    #[must_use]
    pub fn shown(&self) -> String {
        match &self.value {
            Value::Count(count) => count_with_groups(*count),
            Value::Scalar(scalar, _) => number(*scalar, self.digits),
            Value::Vector(row, _) => self.shown_rows(&[row.to_vec()]),
            Value::Matrix(table, _) => {
                let rows: Vec<_> = table.rows().into_iter().map(|row| row.to_vec()).collect();
                self.shown_rows(&rows)
            }
            Value::Text(text) => text.clone(),
            Value::Figure(figure) => figure.shown(self.digits),
            Value::Widget(widget) => {
                format!("{} with {} bytes of data", widget.element, widget.data.len())
            }
            Value::Claim(Ok(())) => "holds".to_owned(),
            Value::Claim(Err(reason)) => format!("does not hold: {reason}"),
        }
    }

    /// The value in TeX: a number, or the rows of a matrix for a `bmatrix`.
    /// Figures, widgets
    /// and claims have no TeX.
    #[must_use]
    pub fn tex(&self) -> Option<String> {
        let row = |numbers: Vec<f64>| {
            let cells: Vec<_> =
                numbers.into_iter().map(|cell| number_tex(cell, self.digits)).collect();
            cells.join(" & ")
        };
        match &self.value {
            Value::Count(count) => {
                Some(count_with_groups(*count).replace('\u{202f}', r"\,").replace('−', "-"))
            }
            Value::Scalar(scalar, _) => Some(number_tex(*scalar, self.digits)),
            Value::Vector(numbers, _) => Some(row(numbers.to_vec())),
            Value::Matrix(table, _) => {
                let rows: Vec<_> = table.rows().into_iter().map(|r| row(r.to_vec())).collect();
                Some(rows.join(r" \\ "))
            }
            Value::Text(text) => Some(text.clone()),
            Value::Figure(_) | Value::Widget(_) | Value::Claim(_) => None,
        }
    }

    fn shown_rows(&self, rows: &[Vec<f64>]) -> String {
        let cells: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.iter().map(|&cell| number(cell, self.digits)).collect())
            .collect();
        let header = (!self.columns.is_empty()).then_some(&self.columns);
        let width = |texts: &mut dyn Iterator<Item = &String>| {
            texts.map(|text| text.chars().count()).max().unwrap_or(0)
        };
        let cell_width = width(&mut cells.iter().flatten().chain(header.into_iter().flatten()));
        let label_width = width(&mut self.rows.iter());
        let line = |label: &str, texts: &[String]| {
            let mut line =
                if label_width > 0 { format!("{label:label_width$}") } else { String::new() };
            for text in texts {
                if !line.is_empty() {
                    line.push_str("  ");
                }
                line.push_str(&format!("{text:>cell_width$}"));
            }
            line.trim_end().to_owned()
        };
        let mut lines: Vec<String> = header.map(|labels| line("", labels)).into_iter().collect();
        for (index, row) in cells.iter().enumerate() {
            lines.push(line(self.rows.get(index).map_or("", String::as_str), row));
        }
        lines.join("\n")
    }

    fn faults(&self) -> Vec<Fault> {
        let (rows, columns) = self.value.shape();
        let mut faults = Vec::new();
        let mut fault = |message: String, hint: &str| {
            faults.push(Fault { at: self.entered_at.clone(), message, hint: hint.to_owned() });
        };
        for (what, labels, count) in [("row", &self.rows, rows), ("column", &self.columns, columns)]
        {
            if !labels.is_empty() && labels.len() != count {
                fault(
                    format!(
                        "`{}` has {count} {what}s but {} {what} labels",
                        self.name,
                        labels.len()
                    ),
                    "give one label each, or none",
                );
            }
        }
        if let Value::Widget(widget) = &self.value
            && let Err(reason) = widget.check()
        {
            fault(format!("`{}`: {reason}", self.name), "use lower-case words joined by hyphens");
        }
        let (numbers, precision) = self.value.numbers();
        let boundary =
            numbers.iter().find(|&&number| near_rounding_boundary(number, self.digits, precision));
        if let Some(number) = boundary {
            fault(
                format!(
                    "`{}` holds {number:?}, so close to a rounding boundary at {} digits that \
                     another processor could print another digit",
                    self.name, self.digits
                ),
                "show more or fewer digits",
            );
        }
        faults
    }
}

/// Groups the digits of a whole number in threes, with narrow spaces, from five
/// digits on.
fn count_with_groups(count: i64) -> String {
    let digits = count.unsigned_abs().to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if digits.len() > 4 && index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    if count < 0 { format!("−{grouped}") } else { grouped }
}

fn is_name(name: &str) -> bool {
    name.contains('.')
        && name.split('.').all(|word| {
            !word.is_empty()
                && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        })
}

/// The path of a function item, without its generic arguments.
fn function_path<F>(_: &F) -> String {
    let path = std::any::type_name::<F>();
    path.split('<').next().unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn table() -> ndarray::Array2<f64> {
        array![[1.0, f64::NEG_INFINITY], [-0.25, 0.751]]
    }
    fn half() -> f64 {
        0.5
    }
    fn broken() -> Result<f64, String> {
        Err("the cat is missing".to_owned())
    }
    fn tokens() -> usize {
        16_384
    }
    fn nameless_widget() -> crate::Widget {
        let [element, fallback, data] = ["box", "", "{}"].map(str::to_owned);
        crate::Widget { element, fallback, data }
    }
    fn false_claim() -> Result<(), String> {
        Err("0.2 is less than 0.3".to_owned())
    }

    #[test]
    fn a_matrix_is_shown_with_its_labels_in_line() {
        let mut ledger = Ledger::new();
        ledger.enter("t.table", table).rows(&["a", "bc"]).columns(&["x", "yy"]);
        let entry = ledger.get("t.table").unwrap();
        assert_eq!(entry.shown(), "        x     yy\na    1.00     −∞\nbc  −0.25   0.75");
        assert_eq!(entry.tex().unwrap(), r"1.00 & -\infty \\ -0.25 & 0.75");
        assert!(entry.maker().ends_with("tests::table"), "{}", entry.maker());
        assert!(entry.entered_at().file.ends_with("entry.rs"));
        assert_eq!(ledger.faults(), []);
    }

    #[test]
    fn counts_are_grouped() {
        let mut ledger = Ledger::new();
        ledger.enter("t.tokens", tokens);
        let entry = ledger.get("t.tokens").unwrap();
        assert_eq!(entry.shown(), "16\u{202f}384");
        assert_eq!(entry.tex().unwrap(), r"16\,384");
        assert_eq!(count_with_groups(-1024), "−1024");
        assert_eq!(count_with_groups(1_234_567), "1\u{202f}234\u{202f}567");
    }

    #[test]
    fn a_claim_that_fails_keeps_its_reason() {
        let mut ledger = Ledger::new();
        ledger.enter("t.claim", false_claim);
        assert_eq!(ledger.get("t.claim").unwrap().shown(), "does not hold: 0.2 is less than 0.3");
    }

    /// Each kind of fault, with the words by which a contributor finds it.
    #[test]
    fn every_fault_is_reported_with_its_place() {
        let mut ledger = Ledger::new();
        ledger.enter("NoName", half);
        ledger.enter("t.closure", || 0.2);
        ledger.enter("t.pointer", half as fn() -> f64);
        ledger.enter("t.twice", half);
        ledger.enter("t.twice", half);
        ledger.enter("t.broken", broken);
        ledger.enter("t.labels", table).rows(&["only one"]);
        ledger.enter("t.boundary", half).digits(0);
        ledger.enter("t.widget", nameless_widget);
        let told: Vec<String> = ledger.faults().iter().map(ToString::to_string).collect();
        for expected in [
            "`NoName` is not a value's name",
            "`t.closure` is made by a closure or pointer",
            "`t.pointer` is made by a closure or pointer",
            "`t.twice` is entered twice",
            "`t.broken` could not be computed: the cat is missing",
            "`t.labels` has 2 rows but 1 row labels",
            "`t.boundary` holds 0.5, so close to a rounding boundary",
            "`t.widget`: `box` is not the name of a custom element",
        ] {
            assert_eq!(
                told.iter().filter(|line| line.contains(expected)).count(),
                1,
                "{expected}: {told:#?}"
            );
        }
        assert_eq!(told.len(), 8, "{told:#?}");
        assert!(told.iter().all(|line| line.contains("entry.rs:")), "{told:#?}");
    }
}
