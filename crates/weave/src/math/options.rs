//! mdbook-katex's options, read from book.toml and checked one by one: left to
//! itself, mdbook-katex resets *all* options where one is mistyped, and panics
//! where the macros cannot be read.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::{fs, io};

use mdbook_katex::cfg::KatexConfig;
use mdbook_katex::preprocess::{ExtraOpts, KATEX_HEADER};
use serde::Deserialize;
use toml::{Spanned, Value};

use crate::problem::{Problem, Problems, closest};

/// How the book's formulas are found and typeset.
#[derive(Clone, Debug)]
pub struct KatexOptions {
    pub(super) delimiters: ExtraOpts,
    inline: katex::Opts,
    display: katex::Opts,
    no_css: bool,
    /// The options and macros spelled out, by which two sets are compared.
    spelled: String,
}

impl PartialEq for KatexOptions {
    fn eq(&self, other: &KatexOptions) -> bool {
        self.spelled == other.spelled
    }
}

/// The colour in which KaTeX prints a command that it does not trust. Faulty TeX
/// is never printed, so no page shows the colour; it only has to be recognised.
pub(super) const UNTRUSTED_COLOR: &str = "#dis7rus7";

/// What a preprocessor's table may hold for mdBook itself.
const OF_MDBOOK: [&str; 5] = ["command", "before", "after", "optional", "renderers"];

/// The kinds of output that KaTeX makes.
const OUTPUTS: [&str; 3] = ["html", "mathml", "htmlAndMathml"];

/// The part of book.toml that is read here.
#[derive(Deserialize)]
struct BookToml {
    #[serde(default)]
    preprocessor: Preprocessors,
}

#[derive(Default, Deserialize)]
struct Preprocessors {
    #[serde(default)]
    katex: Table,
}

type Table = BTreeMap<Spanned<String>, Spanned<Value>>;

impl KatexOptions {
    /// Reads `[preprocessor.katex]` from the book.toml in a book's root, and the
    /// macros that it names.
    ///
    /// # Errors
    ///
    /// By line: TOML that cannot be read, unknown options, options of a wrong
    /// type or value, and a macros file that is missing or malformed.
    pub fn read(root: &Path) -> Result<KatexOptions, Problems> {
        let text = match fs::read_to_string(root.join(BOOK_TOML)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(Problem::in_file(BOOK_TOML, format!("cannot be read: {error}")).into());
            }
        };
        let table = read_table(&text)?;
        check_options(&text, &table)?;
        let mut config = to_config(&table).map_err(|error| Problem::in_file(BOOK_TOML, error))?;
        check_values(&text, &table, &config)?;
        let macros = match &config.macros {
            Some(file) => read_macros(root, file, line_of_option(&text, &table, "macros"))?,
            None => HashMap::new(),
        };
        config.error_color = UNTRUSTED_COLOR.to_owned();
        Ok(KatexOptions::new(&config, macros))
    }

    fn new(config: &KatexConfig, macros: HashMap<String, String>) -> KatexOptions {
        let sorted: BTreeMap<_, _> = macros.iter().collect();
        let spelled = format!("{config:?} {sorted:?}");
        let (inline, display) = config.build_opts_from_macros(macros);
        KatexOptions {
            spelled,
            delimiters: config.build_extra_opts(),
            inline,
            display,
            no_css: config.no_css,
        }
    }

    pub(super) fn opts(&self, display: bool) -> &katex::Opts {
        if display { &self.display } else { &self.inline }
    }

    /// What mdbook-katex puts before each chapter: a link to KaTeX's style sheet
    /// on another host, unless `no-css` is set.
    pub(super) fn header(&self) -> &'static str {
        if self.no_css { "" } else { KATEX_HEADER }
    }
}

impl Default for KatexOptions {
    fn default() -> KatexOptions {
        let error_color = UNTRUSTED_COLOR.to_owned();
        KatexOptions::new(&KatexConfig { error_color, ..KatexConfig::default() }, HashMap::new())
    }
}

const BOOK_TOML: &str = "book.toml";

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|&&byte| byte == b'\n').count()
}

fn line_of_option(text: &str, table: &Table, option: &str) -> usize {
    table
        .keys()
        .find(|key| key.get_ref() == option)
        .map_or(1, |key| line_of(text, key.span().start))
}

fn read_table(text: &str) -> Result<Table, Problem> {
    let book: BookToml = toml::from_str(text).map_err(|error| {
        let line = line_of(text, error.span().map_or(0, |span| span.start));
        Problem::at(BOOK_TOML, line, error.message())
    })?;
    Ok(book.preprocessor.katex)
}

/// The table as mdbook-katex's options; what belongs to mdBook is passed over.
fn to_config<'a>(
    options: impl IntoIterator<Item = (&'a Spanned<String>, &'a Spanned<Value>)>,
) -> Result<KatexConfig, String> {
    let table: toml::Table = options
        .into_iter()
        .map(|(key, value)| (key.get_ref().clone(), value.get_ref().clone()))
        .collect();
    table.try_into().map_err(|error: toml::de::Error| error.message().to_owned())
}

/// The names of all options, taken from mdbook-katex itself.
fn known_options() -> Vec<String> {
    let all = KatexConfig { macros: Some(String::new()), ..KatexConfig::default() };
    let of_katex = toml::Table::try_from(all).map(|table| table.keys().cloned().collect());
    let mut known: Vec<String> = of_katex.unwrap_or_default();
    known.extend(OF_MDBOOK.map(str::to_owned));
    known
}

fn check_options(text: &str, table: &Table) -> Result<(), Problems> {
    let known = known_options();
    let mut problems = Problems::default();
    for (key, value) in table {
        let line = line_of(text, key.span().start);
        let option = key.get_ref();
        if !known.contains(option) {
            let hint = match closest(option, known.iter().map(String::as_str)) {
                Some(likely) => format!("did you mean `{likely}`?"),
                None => format!("the options are {}", known.join(", ")),
            };
            let message = format!("unknown option `{option}` in [preprocessor.katex]");
            problems.push(Problem::at(BOOK_TOML, line, message).hint(hint));
        } else if let Err(error) = to_config([(key, value)]) {
            let message = format!("option `{option}` in [preprocessor.katex]: {error}");
            problems.push(Problem::at(BOOK_TOML, line, message));
        }
    }
    problems.or(())
}

/// Refuses values that mdbook-katex replaces by others, panics at, or with which
/// a page could come out with formulas that are not typeset.
fn check_values(text: &str, table: &Table, config: &KatexConfig) -> Result<(), Problems> {
    let delimiters = [&config.inline_delimiter, &config.block_delimiter];
    let empty = |delimiter: &&mdbook_katex::scan::Delimiter| {
        delimiter.left.is_empty() || delimiter.right.is_empty()
    };
    let output = format!("KaTeX has no output `{}`", config.output);
    let refused = [
        (
            !OUTPUTS.contains(&config.output.as_str()),
            "output",
            output.as_str(),
            "use html, mathml or htmlAndMathml",
        ),
        (empty(&delimiters[0]), "inline-delimiter", "an empty delimiter", "use $"),
        (empty(&delimiters[1]), "block-delimiter", "an empty delimiter", "use $$"),
        (
            !config.pre_render,
            "pre-render",
            "formulas are typeset while the book is built",
            "leave it out",
        ),
        (
            !config.throw_on_error,
            "throw-on-error",
            "faulty TeX is always an error here",
            "leave it out",
        ),
        (
            config.include_src,
            "include-src",
            "mdbook-katex quotes the source wrongly",
            "leave it out; the annotation holds it",
        ),
    ];
    let problems: Problems = refused
        .into_iter()
        .filter(|(refuse, ..)| *refuse)
        .map(|(_, option, why, remedy)| {
            let line = line_of_option(text, table, option);
            Problem::at(
                BOOK_TOML,
                line,
                format!("option `{option}` in [preprocessor.katex]: {why}"),
            )
            .hint(remedy)
        })
        .collect();
    problems.or(())
}

/// Reads macros, one a line: a command, a colon, its TeX. As in mdbook-katex, a
/// line that does not begin with a backslash is a comment.
fn read_macros(
    root: &Path,
    file: &str,
    option_line: usize,
) -> Result<HashMap<String, String>, Problems> {
    let text = fs::read_to_string(root.join(file)).map_err(|error| {
        Problem::at(BOOK_TOML, option_line, format!("macros `{file}` cannot be read: {error}"))
            .hint("the path is relative to book.toml")
    })?;
    let mut problems = Problems::default();
    let mut macros = HashMap::new();
    for (index, line) in text.split('\n').enumerate().filter(|(_, line)| line.starts_with('\\')) {
        match line.split_once(':') {
            Some((command, tex)) => {
                macros.insert(command.to_owned(), tex.trim_end_matches('\r').to_owned());
            }
            None => problems.push(
                Problem::at(file, index + 1, format!("macro `{line}` has no colon"))
                    .hint(r"write `\command:TeX`"),
            ),
        }
    }
    problems.or(macros)
}
