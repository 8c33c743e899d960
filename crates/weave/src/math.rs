//! The formulas of a book: found exactly as mdbook-katex finds them, checked
//! before they are rendered, and sealed afterwards so that Markdown leaves them
//! as they are. Everything that KaTeX or mdbook-katex would only warn of, or
//! pass over in silence, is a problem with file and line here.

mod options;
mod scan;
mod seal;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mdbook_preprocessor::book::Book;
use mdbook_preprocessor::errors::{Error, Result as BookResult};
use mdbook_preprocessor::{Preprocessor, PreprocessorContext};
use rayon::prelude::*;

use crate::problem::{Problem, Problems};

pub use options::KatexOptions;
pub use scan::{Formula, Scanned, Slip};
pub use seal::seal;

/// What KaTeX said of a formula that it could not typeset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TexError {
    /// KaTeX's message, without the formula it repeats.
    pub message: String,
    /// The byte of the formula it points at, where it points anywhere.
    pub offset: Option<usize>,
}

/// Typesets formulas with KaTeX, each only once: the same formula costs nothing
/// on the next page, or when the page is built again.
///
/// Can be shared between threads.
#[derive(Debug)]
pub struct Typesetter {
    options: KatexOptions,
    set: Mutex<HashMap<(bool, String), Set>>,
}

/// A formula's sealed HTML, or why there is none.
type Set = Result<Arc<str>, TexError>;

impl Typesetter {
    /// A typesetter that has not typeset anything yet.
    #[must_use]
    pub fn new(options: KatexOptions) -> Typesetter {
        Typesetter { options, set: Mutex::default() }
    }

    /// Finds the formulas of a text, and what is wrong with its dollar signs.
    #[must_use]
    pub fn scan<'a>(&self, text: &'a str) -> Scanned<'a> {
        scan::scan(text, &self.options.delimiters)
    }

    /// The formula as HTML that can stand in Markdown; see [`seal`].
    ///
    /// # Errors
    ///
    /// What KaTeX cannot typeset, and where in the formula.
    pub fn html(&self, formula: &Formula) -> Set {
        let key = (formula.display, formula.tex.to_owned());
        if let Some(known) = self.known().get(&key) {
            return known.clone();
        }
        let set = self.typeset(formula);
        self.known().insert(key, set.clone());
        set
    }

    /// Everything that is wrong with the formulas of a text, by its lines.
    ///
    /// For a text whose lines are those of the file; who has rewritten it uses
    /// [`Typesetter::scan`] and [`Typesetter::html`], and finds the lines.
    #[must_use]
    pub fn check(&self, file: &Path, text: &str) -> Problems {
        self.render(file, text).err().unwrap_or_default()
    }

    /// The text with its formulas replaced by their sealed HTML.
    ///
    /// # Errors
    ///
    /// The problems of [`Typesetter::check`].
    pub fn render(&self, file: &Path, text: &str) -> Result<String, Problems> {
        let Scanned { formulas, slips } = self.scan(text);
        let sets: Vec<Set> = formulas.par_iter().map(|formula| self.html(formula)).collect();

        let line_of = |offset: usize| 1 + text[..offset].matches('\n').count();
        let mut problems: Problems = slips
            .into_iter()
            .map(|slip| Problem::at(file, line_of(slip.offset), slip.message).hint(slip.hint))
            .collect();
        let mut rendered = self.options.header().to_owned();
        let mut done = 0;
        for (formula, set) in formulas.iter().zip(&sets) {
            rendered.push_str(&text[done..formula.outer.start]);
            match set {
                Ok(html) => rendered.push_str(html),
                Err(error) => {
                    let offset = formula.range.start + error.offset.unwrap_or(0);
                    problems.push(error.problem(file, line_of(offset)));
                }
            }
            done = formula.outer.end;
        }
        rendered.push_str(&text[done..]);
        problems.or(rendered)
    }

    fn typeset(&self, formula: &Formula) -> Set {
        let html = katex::render_with_opts(formula.tex, self.options.opts(formula.display))
            .map_err(|error| TexError::new(&error, formula.tex))?;
        // Without trust KaTeX prints a command such as \htmlClass in red, and
        // does not call that an error.
        if html.contains(options::UNTRUSTED_COLOR) {
            return Err(TexError {
                message: "a command that KaTeX only obeys with `trust = true` in book.toml's \
                          [preprocessor.katex]"
                    .to_owned(),
                offset: None,
            });
        }
        Ok(seal(&html).into())
    }

    fn known(&self) -> MutexGuard<'_, HashMap<(bool, String), Set>> {
        // Entries are only ever added whole, so a panic elsewhere leaves none half made.
        self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TexError {
    fn new(error: &katex::Error, tex: &str) -> TexError {
        let katex::Error::JsExecError(quoted) = error else {
            return TexError { message: error.to_string(), offset: None };
        };
        let message = unquote(quoted);
        let message = message.trim_start_matches("ParseError: ");
        let message = message.trim_start_matches("KaTeX parse error: ");
        // KaTeX underlines the fault with combining characters, which few
        // terminals draw and no search finds.
        let message = message.replace('\u{332}', "").replace('\n', " ");
        if let Some((message, _)) = message.split_once(" at end of input") {
            return TexError {
                message: format!("{message} at the end of the formula"),
                offset: Some(tex.trim_end().len()),
            };
        }
        let Some((start, place)) = message.rsplit_once(" at position ") else {
            return TexError { message, offset: None };
        };
        let (position, excerpt) = place.split_once(": ").unwrap_or((place, ""));
        let offset = position.parse().ok().and_then(|position| byte_of(tex, position));
        TexError { message: format!("{start} at `{excerpt}`"), offset }
    }

    /// The error as a problem with a line of a file.
    #[must_use]
    pub fn problem(&self, file: &Path, line: usize) -> Problem {
        Problem::at(file, line, format!("TeX: {}", self.message))
    }
}

/// The text inside `String("…")`, which is how the JavaScript engine's errors
/// arrive; anything else as it is.
fn unquote(message: &str) -> String {
    message
        .strip_prefix("String(")
        .and_then(|rest| rest.strip_suffix(')'))
        .and_then(|literal| syn::parse_str::<syn::LitStr>(literal).ok())
        .map_or_else(|| message.to_owned(), |literal| literal.value())
}

/// The byte at a position that JavaScript counted: in UTF-16 units, from 1.
fn byte_of(tex: &str, position: usize) -> Option<usize> {
    let mut units = 0;
    tex.char_indices().find_map(|(byte, c)| {
        units += c.len_utf16();
        (units >= position).then_some(byte)
    })
}

/// mdBook's preprocessor `katex`: replaces the one that mdbook-katex brings,
/// with the same scanner, the same KaTeX and the same options.
///
/// It refuses what that one only warns of, keeps what it has typeset, and seals
/// each formula where it knows exactly where the formula's HTML begins and ends.
#[derive(Clone, Debug)]
pub struct Math {
    typesetter: Arc<Typesetter>,
}

impl Math {
    /// A preprocessor that shares its typesetter with who checks the chapters.
    #[must_use]
    pub fn new(typesetter: Arc<Typesetter>) -> Math {
        Math { typesetter }
    }
}

impl Preprocessor for Math {
    fn name(&self) -> &'static str {
        "katex"
    }

    fn run(&self, _: &PreprocessorContext, mut book: Book) -> BookResult<Book> {
        let mut problems = Problems::default();
        book.for_each_chapter_mut(|chapter| {
            let file = chapter.source_path.clone().unwrap_or_else(|| chapter.name.clone().into());
            match self.typesetter.render(&file, &chapter.content) {
                Ok(content) => chapter.content = content,
                Err(faults) => problems.extend(faults),
            }
        });
        problems.or(book).map_err(Error::new)
    }

    /// Tests of the snippets have no use for formulas.
    fn supports_renderer(&self, renderer: &str) -> BookResult<bool> {
        Ok(renderer != "test")
    }
}

#[cfg(test)]
mod tests;
