//! The weaving itself: every directive of every chapter is replaced by what it
//! asks for, and everything that is wrong is gathered on the way.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ledger::{Entry, Ledger};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use rayon::prelude::*;

use crate::chapter::Chapter;
use crate::checked;
use crate::directive::{self, Directive, Kind};
use crate::excerpt::{Crates, Item};
use crate::lint;
use crate::math::{KatexOptions, Typesetter};
use crate::problem::{Problem, Problems, closest};
use crate::project::Project;
use crate::render::{self, Addresses};
use crate::snippet::{self, Snippet};

/// A book with everything in its place, before mdBook makes pages of it.
#[derive(Clone, Debug)]
pub struct Woven {
    /// The chapters, in the order of the table of contents.
    pub chapters: Vec<WovenChapter>,
    /// The programs shown in the chapters.
    pub snippets: Vec<Snippet>,
    /// Where each value is quoted.
    pub quotes: Quotes,
}

/// A chapter with its directives replaced.
#[derive(Clone, Debug)]
pub struct WovenChapter {
    /// The chapter as it was written.
    pub chapter: Chapter,
    /// The Markdown and HTML that mdBook is given.
    pub content: String,
    /// The TeX of its formulas, in order.
    pub formulas: Vec<String>,
}

/// Where each value is quoted: chapter files and lines, by the value's name.
pub type Quotes = BTreeMap<String, Vec<Quote>>;

/// One place that quotes a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// The chapter's title.
    pub chapter: String,
    /// The chapter's file, relative to the chapters' folder.
    pub path: PathBuf,
    /// The chapter's file, relative to the book's root.
    pub file: PathBuf,
    /// The line of the directive.
    pub line: usize,
}

/// Weaves the values of `ledger` into `chapters`.
///
/// # Errors
///
/// Everything found wrong with the chapters and the ledger, together.
pub fn weave(
    project: &Project,
    ledger: &Ledger,
    chapters: Vec<Chapter>,
) -> Result<Woven, Problems> {
    let settings = project.settings();
    let katex = typesetter(project)?;
    let crates = Crates::open(project.root(), &settings.crates)?;
    let (snippets, mut problems) = snippet::snippets(&chapters);
    problems.extend(ledger_faults(ledger));
    let mut parsed = Vec::new();
    for chapter in chapters {
        let (directives, faults) =
            directive::find(&chapter, &formula_ranges(&chapter.text, &katex));
        problems.extend(faults);
        problems.extend(lint::typed_decimals(&chapter, &directives));
        problems.extend(lint::includes(&chapter, project.root()));
        parsed.push((chapter, directives));
    }
    let quotes = quotes(&parsed);
    problems.extend(unquoted(ledger, &quotes));
    let counts = Counts {
        chapters: parsed.len(),
        snippets: snippets.len(),
        tests: tests_in(project, &crates)?,
        values: ledger.entries().count(),
        claims: ledger.entries().filter(|entry| entry.value().kind() == "claim").count(),
    };
    let desk = Desk {
        ledger,
        crates: &crates,
        quotes: &quotes,
        snippets: &snippets,
        counts,
        source: &project.config().book.src,
        checked: &settings.checked,
        worked: &settings.worked,
    };
    let mut woven = Vec::new();
    for (chapter, directives) in parsed {
        let replaced = desk.replace(&chapter, &directives, &katex, &mut problems);
        let formulas = check_formulas(&chapter, &replaced, &katex, &mut problems);
        woven.push(WovenChapter { chapter, content: replaced.text, formulas });
    }
    problems.or(Woven { chapters: woven, snippets, quotes })
}

fn formula_ranges(text: &str, katex: &Typesetter) -> Vec<Range<usize>> {
    katex.scan(text).formulas.into_iter().map(|formula| formula.range).collect()
}

/// The typesetter for the book's options. It is kept from one weaving to the
/// next while the options stay as they are, so that only new formulas are set.
pub(crate) fn typesetter(project: &Project) -> Result<Arc<Typesetter>, Problems> {
    static KEPT: Mutex<Option<(KatexOptions, Arc<Typesetter>)>> = Mutex::new(None);
    let options = KatexOptions::read(project.root())?;
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    match &*kept {
        Some((known, typesetter)) if *known == options => Ok(Arc::clone(typesetter)),
        _ => {
            let typesetter = Arc::new(Typesetter::new(options.clone()));
            *kept = Some((options, Arc::clone(&typesetter)));
            Ok(typesetter)
        }
    }
}

fn ledger_faults(ledger: &Ledger) -> impl Iterator<Item = Problem> {
    ledger.faults().into_iter().map(|fault| {
        Problem::at(fault.at.file, fault.at.line as usize, fault.message).hint(fault.hint)
    })
}

/// Counts the tests of the folders that the settings name; the crates already
/// read are among them.
fn tests_in(project: &Project, crates: &Crates) -> Result<usize, Problems> {
    match &project.settings().tested[..] {
        [] => Ok(crates.count_tests()),
        folders => Ok(Crates::open(project.root(), folders)?.count_tests()),
    }
}

/// Every place that quotes a value, captions included.
fn quotes(parsed: &[(Chapter, Vec<Directive>)]) -> Quotes {
    let mut quotes = Quotes::new();
    for (chapter, directives) in parsed {
        let captions = directives.iter().flat_map(|directive| {
            directive.caption.clone().map_or_else(Vec::new, |caption| {
                directive::find_in_caption(
                    &chapter.text[caption.clone()],
                    chapter.line_of(caption.start),
                )
            })
        });
        for directive in directives.iter().cloned().chain(captions) {
            if matches!(
                directive.kind,
                Kind::Value | Kind::Claim | Kind::Tex | Kind::Matrix | Kind::Figure | Kind::Widget
            ) {
                quotes.entry(directive.argument).or_default().push(Quote {
                    chapter: chapter.name.clone(),
                    path: chapter.path.clone(),
                    file: chapter.file.clone(),
                    line: directive.line,
                });
            }
        }
    }
    for places in quotes.values_mut() {
        places.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    }
    quotes
}

/// A value that no chapter quotes is checked by nobody.
fn unquoted(ledger: &Ledger, quotes: &Quotes) -> Vec<Problem> {
    ledger
        .entries()
        .filter(|entry| !quotes.contains_key(entry.name()))
        .map(|entry| {
            let at = entry.entered_at();
            Problem::at(&at.file, at.line as usize, format!("no chapter quotes `{}`", entry.name()))
                .hint("quote it or take it out of the ledger")
        })
        .collect()
}

struct Counts {
    chapters: usize,
    snippets: usize,
    tests: usize,
    values: usize,
    claims: usize,
}

/// Everything that stands ready to be put into a chapter.
struct Desk<'a> {
    ledger: &'a Ledger,
    crates: &'a Crates,
    quotes: &'a Quotes,
    snippets: &'a [Snippet],
    counts: Counts,
    source: &'a Path,
    checked: &'a Path,
    worked: &'a Path,
}

/// A text in which parts were replaced, and from where in the chapter each of
/// its parts comes.
struct Replaced {
    text: String,
    /// Start in the text, start in the chapter, and whether it was copied.
    parts: Vec<(usize, usize, bool)>,
}

impl Replaced {
    fn copy(&mut self, chapter: &Chapter, range: Range<usize>) {
        self.parts.push((self.text.len(), range.start, true));
        self.text.push_str(&chapter.text[range]);
    }

    fn put(&mut self, text: &str, source: usize) {
        self.parts.push((self.text.len(), source, false));
        self.text.push_str(text);
    }

    /// The byte of the chapter from which a byte of the text comes.
    fn source_of(&self, offset: usize) -> usize {
        let after = self.parts.partition_point(|&(start, ..)| start <= offset);
        match after.checked_sub(1).map(|index| self.parts[index]) {
            Some((start, source, true)) => source + offset - start,
            Some((_, source, false)) => source,
            None => 0,
        }
    }
}

impl Desk<'_> {
    fn replace(
        &self,
        chapter: &Chapter,
        directives: &[Directive],
        katex: &Typesetter,
        problems: &mut Problems,
    ) -> Replaced {
        let addresses = self.addresses(chapter);
        let formulas = formula_ranges(&chapter.text, katex);
        let mut replaced = Replaced { text: String::new(), parts: Vec::new() };
        let mut done = 0;
        for directive in directives {
            replaced.copy(chapter, done..directive.range.start);
            done = directive.range.end;
            let in_formula = formulas.iter().any(|f| f.contains(&directive.range.start));
            match self.woven(chapter, directive, in_formula, &addresses, problems) {
                Ok(text) => replaced.put(&text, directive.range.start),
                Err(Fault { message, hint }) => problems
                    .push(Problem { hint, ..Problem::at(&chapter.file, directive.line, message) }),
            }
        }
        replaced.copy(chapter, done..chapter.text.len());
        replaced
    }

    fn addresses(&self, chapter: &Chapter) -> Addresses {
        let depth = chapter.path.components().count().saturating_sub(1);
        let checked = self.checked.with_extension("html");
        Addresses {
            root: "../".repeat(depth),
            checked: checked.to_string_lossy().replace('\\', "/"),
        }
    }

    /// What a directive asks for.
    fn woven(
        &self,
        chapter: &Chapter,
        directive: &Directive,
        in_formula: bool,
        addresses: &Addresses,
        problems: &mut Problems,
    ) -> Result<String, Fault> {
        let argument = directive.argument.as_str();
        let caption = directive.caption.clone().map(|range| {
            let line = chapter.line_of(range.start);
            self.caption(chapter, &chapter.text[range], line, addresses, problems)
        });
        let quoted = |made: Result<String, String>| {
            made.map_err(|message| Fault::new(format!("`{argument}` {message}")))
        };
        match directive.kind {
            Kind::Value if in_formula => quoted(render::tex(self.entry(argument)?)),
            Kind::Value => quoted(render::inline(self.entry(argument)?, addresses)),
            Kind::Tex if in_formula => quoted(render::tex(self.entry(argument)?)),
            Kind::Tex => Err(Fault::new("`{{tex …}}` stands outside a formula")
                .hint("put it between dollar signs, or use `{{value …}}`")),
            Kind::Claim if in_formula => Err(Fault::new("`{{claim …}}` stands in a formula")
                .hint("put it behind the sentence that makes the claim")),
            Kind::Claim => quoted(render::claim(self.entry(argument)?, addresses)),
            Kind::Literal => Ok(argument.to_owned()),
            Kind::Count => self.count(argument).map(|count| count.to_string()),
            Kind::Matrix => {
                quoted(render::matrix(self.entry(argument)?, caption.as_deref(), addresses))
                    .map(|html| block(&html))
            }
            Kind::Figure => {
                quoted(render::figure(self.entry(argument)?, caption.as_deref(), addresses))
                    .map(|html| block(&html))
            }
            Kind::Widget => {
                quoted(render::widget(self.entry(argument)?, caption.as_deref(), addresses))
                    .map(|html| block(&html))
            }
            Kind::Source => {
                let item = self.item(argument)?;
                Ok(block(&excerpt(&item, caption.as_deref(), addresses)))
            }
            Kind::Checked => self.checked(argument, addresses).map(|html| block(&html)),
        }
    }

    fn entry(&self, name: &str) -> Result<&Entry, Fault> {
        self.ledger.get(name).ok_or_else(|| {
            let fault = Fault::new(format!("unknown value `{name}`"));
            match closest(name, self.ledger.entries().map(Entry::name)) {
                Some(known) => fault.hint(format!("did you mean `{known}`?")),
                None => fault.hint(format!("enter it in a module of `{}`", self.worked.display())),
            }
        })
    }

    fn item(&self, path: &str) -> Result<Item, Fault> {
        self.crates.item(path).map_err(|error| Fault::new(error.message()).hint(error.hint()))
    }

    fn count(&self, what: &str) -> Result<usize, Fault> {
        let Counts { chapters, snippets, tests, values, claims } = self.counts;
        match what {
            "chapters" => Ok(chapters),
            "snippets" => Ok(snippets),
            "tests" => Ok(tests),
            "values" => Ok(values),
            "claims" => Ok(claims),
            other => Err(Fault::new(format!("`{other}` is not counted"))
                .hint("count values, claims, snippets, tests or chapters")),
        }
    }

    fn checked(&self, what: &str, addresses: &Addresses) -> Result<String, Fault> {
        match what {
            "values" => Ok(checked::values(self.ledger, self.quotes, self.crates, addresses)),
            "claims" => Ok(checked::claims(self.ledger, self.quotes, self.crates, addresses)),
            "snippets" => Ok(checked::snippets(self.snippets, self.source, addresses)),
            other => Err(Fault::new(format!("there is no table of `{other}`"))
                .hint("ask for values, claims or snippets")),
        }
    }

    /// A caption as HTML: its directives woven, its Markdown rendered, its
    /// formulas left for KaTeX.
    fn caption(
        &self,
        chapter: &Chapter,
        text: &str,
        line: usize,
        addresses: &Addresses,
        problems: &mut Problems,
    ) -> String {
        let mut woven = String::new();
        let mut done = 0;
        for directive in directive::find_in_caption(text, line) {
            woven.push_str(&text[done..directive.range.start]);
            done = directive.range.end;
            let in_formula = woven.matches('$').count() % 2 == 1;
            match self.woven(chapter, &directive, in_formula, addresses, problems) {
                Ok(html) => woven.push_str(&html),
                Err(Fault { message, hint }) => {
                    problems.push(Problem { hint, ..Problem::at(&chapter.file, line, message) });
                }
            }
        }
        woven.push_str(&text[done..]);
        inline_markdown(&woven)
    }
}

/// Why a directive cannot be woven.
struct Fault {
    message: String,
    hint: Option<String>,
}

impl Fault {
    fn new(message: impl Into<String>) -> Fault {
        Fault { message: message.into(), hint: None }
    }

    fn hint(self, hint: impl Into<String>) -> Fault {
        Fault { hint: Some(hint.into()), ..self }
    }
}

/// Blank lines around a block, so that Markdown takes it as one.
fn block(html: &str) -> String {
    format!("\n{html}\n")
}

/// An item's code with links to its file and its API page.
fn excerpt(item: &Item, caption: Option<&str>, addresses: &Addresses) -> String {
    let caption = caption.map(|words| format!("{words} ")).unwrap_or_default();
    let path = &item.path;
    let api = item.api_page().map_or_else(String::new, |page| {
        let address = addresses.of_api(page);
        format!(r#" · <a href="{address}" aria-label="API of {path}">API</a>"#)
    });
    format!(
        "```rust,ignore\n{code}\n```\n\n<p class=\"excerpt-origin\">{caption}<a href=\"{source}\"><code>{path}</code></a>{api}</p>",
        code = item.code.trim_end(),
        source = addresses.of_api(item.source_page()),
    )
}

/// Renders a line of Markdown without the paragraph around it.
fn inline_markdown(text: &str) -> String {
    let options =
        Options::ENABLE_MATH | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_SMART_PUNCTUATION;
    let events = Parser::new_ext(text, options).filter_map(|event| match event {
        Event::InlineMath(tex) => Some(Event::InlineHtml(format!("${tex}$").into())),
        Event::SoftBreak | Event::HardBreak => Some(Event::Text(" ".into())),
        Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph) => None,
        event => Some(event),
    });
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, events);
    html.trim_end().replace('\n', " ")
}

/// Checks a woven chapter's formulas, telling the lines of the chapter, and
/// returns their TeX.
fn check_formulas(
    chapter: &Chapter,
    replaced: &Replaced,
    katex: &Typesetter,
    problems: &mut Problems,
) -> Vec<String> {
    let line_of = |offset| chapter.line_of(replaced.source_of(offset));
    let scanned = katex.scan(&replaced.text);
    problems.extend(scanned.slips.into_iter().map(|slip| {
        Problem::at(&chapter.file, line_of(slip.offset), slip.message).hint(slip.hint)
    }));
    problems.extend(
        scanned
            .formulas
            .par_iter()
            .filter_map(|formula| {
                let error = katex.html(formula).err()?;
                let offset = formula.range.start + error.offset.unwrap_or(0);
                Some(error.problem(&chapter.file, line_of(offset)))
            })
            .collect::<Vec<_>>(),
    );
    scanned.formulas.into_iter().map(|formula| formula.tex.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_of_the_woven_text_is_traced_to_its_line() {
        let chapter =
            Chapter::new("Test", Path::new("src"), Path::new("a.md"), "one\nXX two\nthree\n");
        let mut replaced = Replaced { text: String::new(), parts: Vec::new() };
        replaced.copy(&chapter, 0..4);
        replaced.put("a\nlong\nthing", 4);
        replaced.copy(&chapter, 6..chapter.text.len());
        let line = |word| chapter.line_of(replaced.source_of(replaced.text.find(word).unwrap()));
        assert_eq!([line("one"), line("long"), line("two"), line("three")], [1, 2, 2, 3]);
    }

    #[test]
    fn a_caption_is_markdown_with_formulas_left_alone() {
        assert_eq!(
            inline_markdown("The *weights* $A_{ij} * B_{ij}$ of <a href=\"x\">0.5</a>"),
            "The <em>weights</em> $A_{ij} * B_{ij}$ of <a href=\"x\">0.5</a>"
        );
    }
}
