//! From chapters and ledger to a site: woven, rendered by mdBook into a folder
//! of its own, finished, checked, and only then put in the old site's place.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ledger::Ledger;
use mdbook_driver::MDBook;
use mdbook_preprocessor::book::{Book, BookItem};
use mdbook_preprocessor::{Preprocessor, PreprocessorContext};
use tempfile::TempDir;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use walkdir::WalkDir;

use crate::api;
use crate::assets::{self, Katex};
use crate::chapter::Chapter;
use crate::math::Math;
use crate::pages::{self, Card, Site};
use crate::problem::{Problem, Problems};
use crate::project::Project;
use crate::weaver::{Woven, typesetter, weave};

/// What a build is told.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// Where the site will be published, for the preview of shared links.
    pub url: Option<String>,
    /// Whether the crates' documentation is part of the site.
    pub api: bool,
}

/// What a build made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The number of pages, without the crates' documentation.
    pub pages: usize,
    /// The folder they are in.
    pub folder: PathBuf,
}

/// Builds the book: weaves, renders, checks, and replaces the old site by the
/// new one.
///
/// # Errors
///
/// Everything found wrong; the old site then stands as it was.
pub fn build(
    project: &Project,
    ledger: &Ledger,
    options: &BuildOptions,
) -> Result<Built, Problems> {
    let woven = weave(project, ledger, project.chapters()?)?;
    let staging = render(project, &woven, options)?;
    let pages = check(project, &woven, staging.path(), options.api)?;
    put_in_place(staging, &project.output())?;
    Ok(Built { pages, folder: project.output() })
}

/// Renders a woven book into a temporary folder beside the site.
pub(crate) fn render(
    project: &Project,
    woven: &Woven,
    options: &BuildOptions,
) -> Result<TempDir, Problems> {
    let output = project.output();
    let failed = |error: io::Error| {
        Problem::in_file(&output, format!("the site cannot be written: {error}"))
            .hint("see that the folder can be written to and the disk has room")
    };
    let parent = output.parent().unwrap_or(project.root());
    fs::create_dir_all(parent).map_err(failed)?;
    let staging = tempfile::Builder::new().prefix(".book-").tempdir_in(parent).map_err(failed)?;
    let katex = assets::katex(project)?;
    run_mdbook(project, woven, &katex, staging.path())?;
    finish_pages(project, woven, options, staging.path()).map_err(failed)?;
    if options.api {
        api::copy_into(project, staging.path())?;
    }
    Ok(staging)
}

/// Runs mdBook's own renderer; what it would only warn of is a problem here.
fn run_mdbook(
    project: &Project,
    woven: &Woven,
    katex: &Katex,
    folder: &Path,
) -> Result<(), Problems> {
    let mut config = project.config().clone();
    config.build.build_dir = folder.to_owned();
    let typesetter = typesetter(project)?;
    let warnings = Warnings::default();
    let subscriber = tracing_subscriber::registry().with(warnings.clone());
    let result = tracing::subscriber::with_default(subscriber, || {
        let mut book = MDBook::load_with_config(project.root(), config)?;
        book.with_preprocessor(Prepared::new(woven, katex))
            .with_preprocessor(Math::new(typesetter));
        book.build()
    });
    let mut problems = warnings.into_problems();
    if let Err(error) = result {
        problems.push(Problem::in_file("book.toml", format!("{error:#}")));
    }
    problems.or(())
}

/// Puts woven chapters in the place of those that mdBook read.
struct Prepared {
    contents: HashMap<PathBuf, String>,
}

impl Prepared {
    fn new(woven: &Woven, katex: &Katex) -> Prepared {
        let contents = woven.chapters.iter().map(|woven| {
            let stylesheet =
                if woven.formulas.is_empty() { String::new() } else { katex.stylesheet() };
            (woven.chapter.path.clone(), format!("{stylesheet}{}", woven.content))
        });
        Prepared { contents: contents.collect() }
    }
}

impl Preprocessor for Prepared {
    fn name(&self) -> &'static str {
        "weave"
    }

    fn run(&self, _: &PreprocessorContext, mut book: Book) -> anyhow::Result<Book> {
        replace_contents(&mut book, &self.contents);
        Ok(book)
    }
}

pub(crate) fn replace_contents(book: &mut Book, contents: &HashMap<PathBuf, String>) {
    book.for_each_mut(|item| {
        if let BookItem::Chapter(chapter) = item
            && let Some(content) = chapter.source_path.as_ref().and_then(|path| contents.get(path))
        {
            chapter.content.clone_from(content);
        }
    });
}

/// Gives each page its own description and a card for where it is shared.
fn finish_pages(
    project: &Project,
    woven: &Woven,
    options: &BuildOptions,
    folder: &Path,
) -> io::Result<()> {
    let of_book = project.config().book.description.clone().unwrap_or_default();
    let described: HashMap<PathBuf, String> = woven
        .chapters
        .iter()
        .map(|woven| (woven.chapter.path.with_extension("html"), pages::describe(&woven.content)))
        .collect();
    for entry in WalkDir::new(folder) {
        let path = entry?.into_path();
        if path.extension().is_none_or(|extension| extension != "html") {
            continue;
        }
        let page = path.strip_prefix(folder).unwrap_or(&path);
        let description = described.get(page).filter(|text| !text.is_empty()).unwrap_or(&of_book);
        let picture = picture_address(project, options, page);
        let image = picture.as_ref().map(|(address, shows)| (address.as_str(), *shows));
        let html = fs::read_to_string(&path)?;
        fs::write(&path, pages::finish(&html, &Card { description, image }))?;
    }
    Ok(())
}

/// The address of the preview picture as a page gives it, and what it shows.
fn picture_address<'a>(
    project: &'a Project,
    options: &BuildOptions,
    page: &Path,
) -> Option<(String, &'a str)> {
    let preview = project.settings().preview.as_ref()?;
    let to_site = match &options.url {
        Some(url) => format!("{}/", url.trim_end_matches('/')),
        None => "../".repeat(page.components().count().saturating_sub(1)),
    };
    Some((format!("{to_site}{}", preview.picture), &preview.shows))
}

/// Checks the rendered pages and counts them.
pub(crate) fn check(
    project: &Project,
    woven: &Woven,
    folder: &Path,
    with_api: bool,
) -> Result<usize, Problems> {
    let site = Site::read(folder)?;
    let chapters: Vec<Chapter> = woven.chapters.iter().map(|woven| woven.chapter.clone()).collect();
    let source = &project.config().book.src;
    let mut problems = Problems::default();
    problems.extend(pages::orphans(
        project.root(),
        source,
        chapters.iter().map(|chapter| chapter.path.as_path()),
    ));
    problems.extend(site.hosts(Some(assets::LINKED)));
    problems.extend(site.links(&chapters, with_api));
    problems.extend(site.unresolved());
    problems.extend(site.mangled());
    problems.extend(site.metadata());
    for woven in &woven.chapters {
        problems.extend(site.formulas(&woven.chapter.path, &woven.formulas));
    }
    let output = project.config().build.build_dir.as_path();
    let named = problems.into_iter().map(|problem| named_in(problem, folder, output));
    let named: Problems = named.collect();
    named.or(site.len())
}

/// A page's problem, told with the folder in which the page would have come to
/// be and not with the one that it was made in.
fn named_in(problem: Problem, folder: &Path, output: &Path) -> Problem {
    match problem.file.strip_prefix(folder) {
        Ok(page) => Problem { file: output.join(page), ..problem },
        Err(_) => problem,
    }
}

/// Puts the new site in the old one's place; if that fails, the old one is put
/// back.
fn put_in_place(staging: TempDir, output: &Path) -> Result<(), Problem> {
    let failed = |error: io::Error| {
        Problem::in_file(output, format!("the site cannot be replaced: {error}"))
            .hint("see that the folder can be written to")
    };
    let old = tempfile::Builder::new()
        .prefix(".old-book-")
        .tempdir_in(output.parent().unwrap_or(output))
        .map_err(failed)?;
    let aside = old.path().join("book");
    let had_old = output.exists();
    if had_old {
        fs::rename(output, &aside).map_err(failed)?;
    }
    if let Err(error) = fs::rename(staging.path(), output) {
        if had_old {
            fs::rename(&aside, output).map_err(failed)?;
        }
        return Err(failed(error));
    }
    // The folder has another name now: there is nothing left to remove.
    let _ = staging.keep();
    make_readable(output).map_err(failed)
}

/// Temporary folders are private to their owner; a site is for all to read.
#[cfg(unix)]
fn make_readable(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_readable(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Collects what mdBook warns of.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl Warnings {
    fn into_problems(self) -> Problems {
        let told = std::mem::take(&mut *self.0.lock().unwrap_or_else(|broken| broken.into_inner()));
        told.into_iter()
            .map(|message| Problem::in_file("book.toml", format!("mdBook: {message}")))
            .collect()
    }
}

impl<S: Subscriber> Layer<S> for Warnings {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if *event.metadata().level() > Level::WARN {
            return;
        }
        let mut message = Message(String::new());
        event.record(&mut message);
        self.0.lock().unwrap_or_else(|broken| broken.into_inner()).push(message.0);
    }
}

/// The text of a log line.
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}
