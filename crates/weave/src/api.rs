//! The API pages of the crates that a book shows: made by `cargo doc`, put into
//! the site under `api/`. Links to them from chapters are made elsewhere.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use walkdir::WalkDir;

use crate::cargo;
use crate::problem::{Problem, Problems};
use crate::project::Project;

/// The folder of the site that holds them.
pub const FOLDER: &str = "api";

/// Makes the API pages, of the crates that the settings name; cargo sees to it
/// that only what has changed is made again. What is compiled for it is shared
/// with cargo's other builds; the pages have a folder of their own, so that
/// nobody else's documentation gets into the site.
///
/// # Errors
///
/// A crate does not compile, its documentation links to something that is not
/// there, or cargo cannot be run.
pub fn build(project: &Project) -> Result<(), Problems> {
    make(project.root(), project.target(), &packages(project)?)
}

/// Links to nothing are errors.
const STRICT: &str = "-D rustdoc::broken_intra_doc_links";

/// The flag `--cfg weave_api_pages` has no meaning but this: cargo takes pages
/// that it made elsewhere with the same flags for ours, and no one else uses it.
fn make(root: &Path, target: &Path, crates: &[String]) -> Result<(), Problems> {
    if crates.is_empty() {
        return Ok(());
    }
    let mut command = cargo::command(root, &target.join(FOLDER));
    command
        .env("CARGO_BUILD_BUILD_DIR", target)
        .env("RUSTDOCFLAGS", format!("{STRICT} --cfg weave_api_pages"))
        .args(["doc", "--no-deps", "--quiet"]);
    for package in crates {
        command.args(["--package", package]);
    }
    cargo::run(command, "making the API pages").map(|_| ())
}

/// Puts the API pages, as last made, into a site. Says whether there were any.
///
/// # Errors
///
/// The pages cannot be read or the site cannot be written; what was there before
/// then still stands.
pub fn copy_into(project: &Project, site: &Path) -> Result<bool, Problems> {
    let crates = packages(project)?;
    let doc = project.target().join(FOLDER).join("doc");
    if crates.is_empty() || !crates.iter().all(|name| doc.join(folder_of(name)).is_dir()) {
        return Ok(false);
    }
    place(&doc, &crates, project.config().book.title.as_deref(), site).map_err(|error| {
        let folder = site.join(FOLDER);
        let shown = folder.strip_prefix(project.root()).unwrap_or(&folder);
        Problem::in_file(shown, format!("the API pages cannot be put here: {error}"))
            .hint("make the folder writable and see that the disk is not full")
    })?;
    Ok(true)
}

/// The names of the packages whose API pages the site has.
fn packages(project: &Project) -> Result<Vec<String>, Problems> {
    let packages = cargo::packages(project, &project.settings().crates, "crates")?;
    Ok(packages.into_iter().map(|(name, _)| name).collect())
}

/// The folder of a crate's pages: its name as Rust writes it.
fn folder_of(package: &str) -> String {
    package.replace('-', "_")
}

/// Copies the pages beside their place and moves them there as a whole.
fn place(doc: &Path, crates: &[String], book: Option<&str>, site: &Path) -> io::Result<()> {
    let _shared = lock(doc)?;
    fs::create_dir_all(site)?;
    let staging = tempfile::Builder::new().prefix(".api-").tempdir_in(site)?;
    let new = staging.path().join("new");
    copy_tree(doc, &new)?;
    fs::write(new.join("index.html"), index(crates, book))?;
    let destination = site.join(FOLDER);
    match fs::rename(&destination, staging.path().join("old")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::rename(new, destination)
}

/// Copies of one site, made at once, would move each other's folders away.
fn lock(doc: &Path) -> io::Result<File> {
    let file = File::create(doc.with_extension("lock"))?;
    file.lock()?;
    Ok(file)
}

/// Copies a folder without its hidden files, which are cargo's notes.
fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    let visible = |entry: &walkdir::DirEntry| {
        entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.')
    };
    for entry in WalkDir::new(from).into_iter().filter_entry(visible) {
        let entry = entry?;
        let place = to.join(entry.path().strip_prefix(from).unwrap_or(entry.path()));
        if entry.file_type().is_dir() {
            fs::create_dir_all(place)?;
        } else {
            fs::copy(entry.path(), place)?;
        }
    }
    Ok(())
}

/// The page from which a reader chooses a crate.
fn index(crates: &[String], book: Option<&str>) -> String {
    let book = escape(book.unwrap_or("The book"));
    let mut items = String::new();
    for name in crates {
        let (name, folder) = (escape(name), folder_of(name));
        let _ = writeln!(items, "<li><a href=\"{folder}/index.html\"><code>{name}</code></a></li>");
    }
    format!(
        "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<meta name=\"description\" content=\"The documentation of the crates behind {book}.\">
<title>API - {book}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ max-width: 40rem; margin: 2rem auto; padding: 0 1rem; font: 1.1rem/1.6 sans-serif; }}
</style>
</head>
<body>
<main>
<h1>The code behind the book</h1>
<ul>
{items}</ul>
<p><a href=\"../index.html\">Back to {book}</a></p>
</main>
</body>
</html>
"
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(lib: &str) -> (tempfile::TempDir, Project) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let files = [
            (
                "book.toml",
                "[book]\ntitle = \"Cats & Mats\"\n[preprocessor.weave]\ncrates = [\"some-cats\"]\n",
            ),
            ("Cargo.toml", "[workspace]\nmembers = [\"some-cats\"]\nresolver = \"3\"\n"),
            (
                "some-cats/Cargo.toml",
                "[package]\nname = \"some-cats\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
            ),
            ("some-cats/src/lib.rs", lib),
        ];
        for (file, text) in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let project = Project::open(root).unwrap();
        (folder, project)
    }

    #[test]
    fn pages_are_made_and_put_into_the_site() {
        let (folder, project) = book("//! Cats.\n\n/// Sits.\npub fn sit() {}\n");
        let (target, site) = (folder.path().join("target"), folder.path().join("site"));
        let crates = packages(&project).unwrap();
        make(project.root(), &target, &crates).unwrap();
        for _ in 0..2 {
            place(&target.join("api/doc"), &crates, Some("Cats & Mats"), &site).unwrap();
        }
        for page in ["some_cats/fn.sit.html", "src/some_cats/lib.rs.html", "static.files"] {
            assert!(site.join(FOLDER).join(page).exists(), "{page}");
        }
        let index = fs::read_to_string(site.join("api/index.html")).unwrap();
        assert!(index.contains("<a href=\"some_cats/index.html\"><code>some-cats</code></a>"));
        assert!(index.contains("Cats &amp; Mats"));
        let names: Vec<_> =
            fs::read_dir(&site).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["api"], "nothing else is left behind");
    }

    #[test]
    fn documentation_made_elsewhere_is_not_taken_for_ours() {
        let (folder, project) = book("/// Sits.\npub fn sit() {}\n");
        let target = folder.path().join("target");
        let crates = packages(&project).unwrap();
        make(project.root(), &target, &crates).unwrap();
        fs::write(folder.path().join("some-cats/src/lib.rs"), "/// Purrs.\npub fn purr() {}\n")
            .unwrap();
        let mut elsewhere = cargo::command(project.root(), &target);
        elsewhere.env("RUSTDOCFLAGS", STRICT).args(["doc", "--quiet"]);
        cargo::run(elsewhere, "documenting elsewhere").unwrap();
        make(project.root(), &target, &crates).unwrap();
        assert!(target.join("api/doc/some_cats/fn.purr.html").exists());
    }

    #[test]
    fn pages_not_yet_made_are_not_put_anywhere() {
        let (folder, project) = book("");
        assert_eq!(copy_into(&project, &folder.path().join("site")), Ok(false));
        assert!(!folder.path().join("site").exists());
    }

    #[test]
    fn a_dead_link_in_the_docs_is_a_problem_with_its_line() {
        let (folder, project) = book("//! Cats.\n//!\n//! See [`mats`].\n");
        let crates = packages(&project).unwrap();
        let target = folder.path().join("target");
        let problems = make(project.root(), &target, &crates).unwrap_err().to_string();
        assert!(problems.starts_with("some-cats/src/lib.rs:3: "), "{problems}");
    }

    #[test]
    fn a_crate_that_is_not_there_is_a_problem_that_names_the_setting() {
        let (folder, project) = book("");
        fs::remove_dir_all(folder.path().join("some-cats")).unwrap();
        let problems = build(&project).unwrap_err().to_string();
        assert!(problems.contains("some-cats/Cargo.toml: there is no such file"), "{problems}");
        assert!(problems.contains("`crates` under [preprocessor.weave]"), "{problems}");
    }
}
