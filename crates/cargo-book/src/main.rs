//! `cargo book`: builds, serves, tests and extends the book. Hands the ledger
//! of the worked examples to the weaver, which does the work; here are only the
//! commands and what they tell the terminal.

mod bench;
mod chapters;
mod report;
mod server;

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::{Parser, Subcommand};
use ledger::Ledger;
use weave::{BuildOptions, Problems, Project};

use crate::report::{Step, say};

/// Every value of the book. Computed once: when the code changes, so does the
/// program.
static LEDGER: LazyLock<Ledger> = LazyLock::new(explorer::ledger);

/// Builds, serves and tests the book.
///
/// Every number in the chapters is computed by the `worked` crate; these
/// commands put the numbers into the pages and see that they are right.
#[derive(Parser)]
#[command(name = "cargo book", bin_name = "cargo book", version, arg_required_else_help = true)]
#[command(after_help = "Start with `cargo book serve --open`.\n\n\
    Exit codes: 0 all is well, 1 the book has problems, 2 the command or the machine has.")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the site
    ///
    /// Weaves the chapters, checks every page, and replaces the site in the
    /// build folder of book.toml as a whole. If anything is wrong, the old site
    /// stands as it was.
    #[command(after_help = "Example: cargo book build --url https://example.org/book/")]
    Build {
        /// Where the site will be published, for the previews of shared links
        #[arg(long)]
        url: Option<String>,
    },
    /// Build the site, serve it to this machine, and reload pages on changes
    ///
    /// Changes to chapters, the theme or book.toml rebuild the pages; changes to
    /// Rust code compile first. What is wrong is shown in the terminal and on
    /// the pages.
    #[command(after_help = "Example: cargo book serve --port 4000 --open")]
    Serve {
        /// The port on 127.0.0.1; 0 takes any that is free
        #[arg(long, default_value_t = 3000)]
        port: u16,
        /// Open the book in the browser
        #[arg(long)]
        open: bool,
    },
    /// Check every value, claim, snippet and page
    ///
    /// Computes everything anew and compares it with values.lock and with the
    /// outputs shown in the chapters. Writes nothing.
    #[command(after_help = "Example: cargo book test")]
    Test,
    /// Accept the values and outputs as they are computed now
    ///
    /// Rewrites values.lock and the `text,output` blocks of the chapters. Review
    /// the difference before you commit it: it is what readers will see change.
    #[command(after_help = "Example: cargo book bless && git diff")]
    Bless,
    /// Build the engines that the widgets run
    ///
    /// Compiles the crate that book.toml names to WebAssembly and keeps it in
    /// the repository, with a fingerprint of its sources, so that nobody who
    /// only builds the book needs a compiler for WebAssembly. `cargo book test`
    /// fails where the two no longer match.
    #[command(after_help = "Example: rustup target add wasm32-unknown-unknown && cargo book wasm")]
    Wasm,
    /// Time attention side by side with its peers
    ///
    /// Compiles everything in release mode, candle-nn too, which takes minutes;
    /// then runs the plain recipe, this book's kernel, candle-nn and, through a
    /// Python that has them, PyTorch and NumPy, in turn. The figures are recorded
    /// under book/measurements/, where the chapters quote them from.
    #[command(after_help = "Example: cargo book bench --python venv/bin/python")]
    Bench(bench::Arguments),
    /// Begin a chapter
    ///
    /// Writes the chapter with its headings and the module of the worked crate
    /// that computes its values, makes both known, and blesses the result, so
    /// that it passes `cargo book test` from the start.
    #[command(after_help = "Example: cargo book new attention/many-heads")]
    New {
        /// The part and the chapter: lower-case words joined by hyphens
        #[arg(value_name = "PART/CHAPTER")]
        name: String,
    },
    /// What the stock mdbook runs: reads a book from standard input
    #[command(hide = true)]
    Preprocess {
        /// Which preprocessor: `weave` or `katex`
        name: String,
        /// With a renderer: whether the preprocessor supports it
        #[arg(value_parser = ["supports"], requires = "renderer")]
        question: Option<String>,
        /// The renderer asked about
        renderer: Option<String>,
    },
}

/// Why a command ends without having done its work.
pub(crate) enum Failure {
    /// The book has problems.
    Book(Problems),
    /// Something about the command or the machine; a sentence.
    Environment(String),
    /// All has been said already.
    Told,
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Failure {
        Failure::Book(problems)
    }
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Book(problems)) => {
            report::problems(&problems);
            ExitCode::from(1)
        }
        Err(Failure::Environment(message)) => {
            report::error(&message);
            ExitCode::from(2)
        }
        Err(Failure::Told) => ExitCode::from(1),
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Build { url } => build(url),
        Command::Serve { port, open } => server::serve(root()?, port, open),
        Command::Test => test(),
        Command::Bless => bless(),
        Command::Wasm => wasm(),
        Command::Bench(arguments) => bench::run(&root()?, &arguments),
        Command::New { name } => chapters::new(&open()?, &name),
        Command::Preprocess { name, renderer: Some(renderer), .. } => supports(&name, &renderer),
        Command::Preprocess { name, renderer: None, .. } => preprocess(&name),
    }
}

/// The folder of the book that we are in.
fn root() -> Result<PathBuf, Failure> {
    let folder = env::current_dir().map_err(|error| {
        Failure::Environment(format!("the current folder cannot be read: {error}"))
    })?;
    weave::find_root(&folder).ok_or_else(|| {
        Failure::Environment(format!(
            "there is no book.toml in {} or above it; run this in the folder of a book",
            folder.display()
        ))
    })
}

fn open() -> Result<Project, Failure> {
    Ok(Project::open(&root()?)?)
}

fn build(url: Option<String>) -> Result<(), Failure> {
    let project = open()?;
    let step = Step::begin("making the API pages");
    weave::api::build(&project)?;
    step.end("made the API pages");
    weave_pages(&project, &BuildOptions { url, api: true })?;
    Ok(())
}

/// Weaves the pages and says so.
pub(crate) fn weave_pages(project: &Project, options: &BuildOptions) -> Result<(), Problems> {
    let chapters = project.chapters()?.len();
    let step = Step::begin(&format!("weaving {}", counted(chapters, "chapter")));
    let built = weave::build(project, &LEDGER, options)?;
    let pages = counted(built.pages, "page");
    step.end(&format!("wove {pages} into {}", shown(project, &project.output())));
    Ok(())
}

fn test() -> Result<(), Failure> {
    let project = open()?;
    let step = begin_checking(&project, "checking")?;
    let tested = weave::test(&project, &LEDGER)?;
    step.end(&format!(
        "checked {}, {} of them, {} and {}: all is well",
        counted(tested.values, "value"),
        counted(tested.claims, "claim"),
        counted(tested.snippets, "snippet"),
        counted(tested.pages, "page"),
    ));
    Ok(())
}

fn bless() -> Result<(), Failure> {
    let project = open()?;
    let step = begin_checking(&project, "computing")?;
    let blessed = weave::bless(&project, &LEDGER)?;
    for value in &blessed.values {
        say(&format!("  {value}"));
    }
    for chapter in &blessed.chapters {
        say(&format!("  outputs in {chapter}"));
    }
    step.end(&match blessed.values.len() + blessed.chapters.len() {
        0 => "nothing has changed".to_owned(),
        changes => format!("blessed {}; review them with git diff", counted(changes, "change")),
    });
    Ok(())
}

fn wasm() -> Result<(), Failure> {
    let project = open()?;
    let step = Step::begin("building the engines");
    let built = weave::engine::build(&project)?;
    for engine in &built {
        say(&format!(
            "  {} from {} with {}: {} bytes",
            engine.file.display(),
            counted(engine.sources, "source"),
            engine.toolchain,
            engine.bytes,
        ));
    }
    step.end(&format!("built {}", counted(built.len(), "engine")));
    Ok(())
}

/// Says how much there is to do: the programs take most of the time.
fn begin_checking(project: &Project, doing: &str) -> Result<Step, Problems> {
    let chapters = project.chapters()?;
    let programs = chapters
        .iter()
        .flat_map(|chapter| &chapter.fences)
        .filter(|fence| fence.has("rust") && !fence.has("ignore"))
        .count();
    Ok(Step::begin(&format!(
        "{doing} {}, compiling {}",
        counted(chapters.len(), "chapter"),
        counted(programs, "snippet")
    )))
}

fn supports(name: &str, renderer: &str) -> Result<(), Failure> {
    if weave::supports(name, renderer) { Ok(()) } else { Err(Failure::Told) }
}

fn preprocess(name: &str) -> Result<(), Failure> {
    let (input, output) = (io::stdin().lock(), io::stdout().lock());
    weave::preprocess(name, &LEDGER, input, output).map_err(|error| {
        match error.downcast::<Problems>() {
            Ok(problems) => Failure::Book(problems),
            Err(error) => Failure::Environment(format!("{error:#}")),
        }
    })
}

/// A path as people say it: from the book's folder where it lies inside.
pub(crate) fn shown(project: &Project, path: &Path) -> String {
    path.strip_prefix(project.root()).unwrap_or(path).display().to_string()
}

/// `1 page`, `2 pages`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
