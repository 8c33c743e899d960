//! Has skeptic write a test for every `rust` fence of the chapters. What the
//! fences are and what they print is checked elsewhere; this is `cargo test`'s
//! own view of them.

use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::{env, io};

use walkdir::{DirEntry, WalkDir};

const CHAPTERS: &str = "../book/src";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={CHAPTERS}");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let copies = copy_chapters(Path::new(CHAPTERS), &out.join("chapters"))?;
    if copies.is_empty() {
        // skeptic would write no file, and there would be nothing to include.
        fs::write(out.join("skeptic-tests.rs"), "")?;
    }
    skeptic::generate_doc_tests(&copies);
    Ok(())
}

/// Copies the chapters into one folder, under names that hold their whole path:
/// skeptic names tests after the file alone, and two parts of the book may have
/// a chapter of the same name.
fn copy_chapters(chapters: &Path, folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let mut copies = Vec::new();
    for entry in WalkDir::new(chapters).sort_by_file_name() {
        let entry = entry?;
        if entry.path().extension().is_some_and(|extension| extension == "md") {
            let path = entry.path().strip_prefix(chapters)?;
            let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
            let copy = folder.join(parts.join("-"));
            copy_with_time(&entry, &copy)?;
            copies.push(copy);
        }
    }
    Ok(copies)
}

/// skeptic tells cargo to watch the files it is given. A copy newer than this
/// run would have cargo run it again each time, so it is as old as the chapter.
fn copy_with_time(chapter: &DirEntry, copy: &Path) -> io::Result<()> {
    fs::copy(chapter.path(), copy)?;
    File::options().write(true).open(copy)?.set_modified(fs::metadata(chapter.path())?.modified()?)
}
