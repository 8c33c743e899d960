//! A book on disk: where its parts lie, and what `book.toml` says of the
//! weaving.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use mdbook_driver::config::Config;
use mdbook_summary::SummaryItem;
use serde::Deserialize;

use crate::chapter::Chapter;
use crate::problem::{Problem, Problems};

/// A book's folders and settings.
#[derive(Clone, Debug)]
pub struct Project {
    root: PathBuf,
    target: PathBuf,
    config: Config,
    settings: Settings,
}

/// `[preprocessor.weave]` of `book.toml`. Paths are relative to the book's root.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Settings {
    /// The lock file.
    pub lock: PathBuf,
    /// The chapter that lists every value, relative to the chapters' folder.
    pub checked: PathBuf,
    /// The crate whose modules compute the values, one module a chapter.
    pub worked: PathBuf,
    /// The crates whose items chapters may show, and whose API pages are part
    /// of the site.
    pub crates: Vec<PathBuf>,
    /// The crates that snippets may use.
    pub snippets: Vec<PathBuf>,
    /// The folders whose tests are counted.
    pub tested: Vec<PathBuf>,
    /// The picture shown where a page's address is shared.
    pub preview: Option<Preview>,
    /// The engines that the widgets run.
    pub engines: Vec<Engine>,
    // What mdBook itself reads of this table.
    command: Option<String>,
    before: Vec<String>,
    after: Vec<String>,
    renderers: Option<Vec<String>>,
}

/// The picture that stands for the book where its address is shared.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preview {
    /// The file, relative to the chapters' folder.
    pub picture: String,
    /// What it shows, in words.
    pub shows: String,
}

/// WebAssembly that widgets run, kept in the repository.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Engine {
    /// The package that it is built from.
    pub package: String,
    /// The features that it is built with; none but these.
    #[serde(default)]
    pub features: Vec<String>,
    /// The file, relative to the book's root. The fingerprint of its sources is
    /// kept beside it.
    pub wasm: PathBuf,
}

impl Engine {
    /// The file that tells what the engine was built from.
    #[must_use]
    pub fn fingerprint(&self) -> PathBuf {
        self.wasm.with_extension("fingerprint")
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            lock: "book/values.lock".into(),
            checked: "appendix/checked.md".into(),
            worked: "crates/worked".into(),
            crates: Vec::new(),
            snippets: Vec::new(),
            tested: Vec::new(),
            preview: None,
            engines: Vec::new(),
            command: None,
            before: Vec::new(),
            after: Vec::new(),
            renderers: None,
        }
    }
}

/// The parts of `book.toml` that are read with their lines.
#[derive(Default, Deserialize)]
#[serde(default)]
struct BookFile {
    preprocessor: Preprocessors,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Preprocessors {
    weave: Settings,
}

const CONFIG: &str = "book.toml";

impl Project {
    /// Opens the book whose `book.toml` lies in `root`.
    ///
    /// # Errors
    ///
    /// `book.toml` is missing, cannot be read, is not TOML, has an option that
    /// nobody knows, or would have the renderer empty the folder that the
    /// chapters lie in.
    pub fn open(root: &Path) -> Result<Project, Problems> {
        let text = read_text(root, Path::new(CONFIG))?;
        let with_line = |error: &toml::de::Error| {
            let line = error.span().map(|span| line_of(&text, span.start));
            Problem { line, ..Problem::in_file(CONFIG, error.message().trim()) }
        };
        let file: BookFile = toml::from_str(&text).map_err(|error| with_line(&error))?;
        let config: Config = text
            .parse()
            .map_err(|error: anyhow::Error| Problem::in_file(CONFIG, format!("{error:#}")))?;
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let project = Project {
            target: target_folder(&root),
            root,
            config,
            settings: file.preprocessor.weave,
        };
        project.check_folders(&text)?;
        Ok(project)
    }

    /// The same book, with another folder for what can be made again.
    #[must_use]
    pub fn with_target(self, target: &Path) -> Project {
        Project { target: target.to_owned(), ..self }
    }

    /// The folder of `book.toml`.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The chapters' folder.
    #[must_use]
    pub fn source(&self) -> PathBuf {
        self.root.join(&self.config.book.src)
    }

    /// The folder that the finished site is put into.
    #[must_use]
    pub fn output(&self) -> PathBuf {
        self.root.join(&self.config.build.build_dir)
    }

    /// The folder that cargo builds into, and where the weaver keeps what it
    /// can make again.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// What `book.toml` says of the weaving.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The whole of `book.toml`, as mdBook reads it.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The lock file.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.root.join(&self.settings.lock)
    }

    /// Reads a text file, named relative to the root.
    ///
    /// # Errors
    ///
    /// The file is missing, cannot be read, or is not UTF-8.
    pub fn read(&self, file: &Path) -> Result<String, Problem> {
        read_text(&self.root, file)
    }

    /// Every chapter that the table of contents names, in its order.
    ///
    /// # Errors
    ///
    /// The table of contents or a chapter is missing, cannot be read, is not
    /// UTF-8, or is named twice.
    pub fn chapters(&self) -> Result<Vec<Chapter>, Problems> {
        let source = &self.config.book.src;
        let summary_file = source.join("SUMMARY.md");
        let text = self.read(&summary_file)?;
        let summary = mdbook_summary::parse_summary(&text)
            .map_err(|error| Problem::in_file(&summary_file, format!("{error:#}")))?;
        let mut named = Vec::new();
        for part in [&summary.prefix_chapters, &summary.numbered_chapters, &summary.suffix_chapters]
        {
            collect_links(part, &mut named);
        }
        let mut problems = Problems::default();
        let mut chapters = Vec::new();
        let mut seen = HashMap::new();
        for (name, path) in named {
            let line = text
                .lines()
                .position(|line| line.contains(&format!("({})", path.display())))
                .map_or(1, |index| index + 1);
            if let Some(first) = seen.insert(path.clone(), line) {
                problems.push(
                    Problem::at(
                        &summary_file,
                        line,
                        format!("`{}` is named twice", path.display()),
                    )
                    .hint(format!("line {first} names it already")),
                );
                continue;
            }
            match self.read(&source.join(&path)) {
                Ok(text) => chapters.push(Chapter::new(&name, source, &path, &text)),
                Err(problem) if !self.source().join(&path).exists() => problems.push(
                    Problem::at(
                        &summary_file,
                        line,
                        format!("the chapter `{}` does not exist", path.display()),
                    )
                    .hint(problem.message),
                ),
                Err(problem) => problems.push(problem),
            }
        }
        problems.or(chapters)
    }

    /// mdBook empties the folder it builds into: chapters or crates in there
    /// would be lost.
    fn check_folders(&self, config: &str) -> Result<(), Problem> {
        let output = self.output();
        let holds = |folder: &Path| folder.starts_with(&output) || output == folder;
        if holds(&self.source()) || holds(&self.root) {
            let line = config
                .lines()
                .position(|line| line.trim_start().starts_with("build-dir"))
                .map(|index| index + 1);
            let message = format!(
                "the build would empty `{}`, in which the chapters lie",
                self.config.build.build_dir.display()
            );
            return Err(Problem { line, ..Problem::in_file(CONFIG, message) }
                .hint("set `build-dir = \"target/book\"` under [build]"));
        }
        Ok(())
    }
}

/// The root of the book that `folder` lies in: the nearest folder upwards that
/// has a `book.toml`.
#[must_use]
pub fn find_root(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|folder| folder.join(CONFIG).is_file()).map(Path::to_owned)
}

fn target_folder(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}

fn read_text(root: &Path, file: &Path) -> Result<String, Problem> {
    let bytes = fs::read(root.join(file)).map_err(|error| {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => format!("cannot be read: {error}"),
        };
        Problem::in_file(file, reason)
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + valid.iter().filter(|&&byte| byte == b'\n').count();
        Problem::at(file, line, "this line is not UTF-8").hint("save the file as UTF-8")
    })
}

fn collect_links(items: &[SummaryItem], into: &mut Vec<(String, PathBuf)>) {
    for item in items {
        if let SummaryItem::Link(link) = item {
            if let Some(location) = &link.location {
                into.push((link.name.clone(), location.clone()));
            }
            collect_links(&link.nested_items, into);
        }
    }
}

pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|&&byte| byte == b'\n').count()
}
