//! Chapters begun in small books.

use super::*;

const SUMMARY: &str = "# Summary

[Introduction](introduction.md)

# Attention

- [Attention is a soft lookup](attention/soft-lookup.md)

# Appendix

- [Notation](appendix/notation.md)
";

const LIB: &str = "//! Worked examples.

pub mod lookup;
pub mod qkv;

pub fn ledger() -> Ledger {
    let mut ledger = Ledger::new();
    lookup::enter(&mut ledger);
    qkv::enter(&mut ledger);
    ledger
}
";

fn book() -> (tempfile::TempDir, Project) {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in [
        (
            "book.toml",
            "[book]\ntitle = \"T\"\nsrc = \"src\"\n[preprocessor.weave]\nworked = \"w\"\n",
        ),
        ("src/SUMMARY.md", SUMMARY),
        ("w/src/lib.rs", LIB),
    ] {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let project = Project::open(folder.path()).unwrap();
    (folder, project)
}

/// Every file of the book with its text.
fn files(folder: &tempfile::TempDir) -> Vec<(PathBuf, String)> {
    walkdir::WalkDir::new(folder.path())
        .sort_by_file_name()
        .into_iter()
        .map(Result::unwrap)
        .map(|entry| {
            let text = if entry.file_type().is_file() {
                fs::read_to_string(entry.path()).unwrap()
            } else {
                "a folder".to_owned()
            };
            (entry.into_path(), text)
        })
        .collect()
}

#[test]
fn a_chapter_of_a_known_part_is_put_after_the_others() {
    let (_folder, project) = book();
    let scaffold = chapter(&project, "attention/many-heads").unwrap();
    assert_eq!(scaffold.chapter, Path::new("src/attention/many-heads.md"));
    assert_eq!(scaffold.module, Path::new("w/src/many_heads.rs"));
    let read = |file: &str| project.read(Path::new(file)).unwrap();
    assert!(read("src/SUMMARY.md").contains(
        "(attention/soft-lookup.md)\n- [Many heads](attention/many-heads.md)\n\n# Appendix"
    ));
    let lib = read("w/src/lib.rs");
    assert!(lib.contains("pub mod lookup;\npub mod many_heads;\npub mod qkv;\n"), "{lib}");
    assert!(lib.contains("    qkv::enter(&mut ledger);\n    many_heads::enter(&mut ledger);\n"));
    let text = read("src/attention/many-heads.md");
    assert!(text.starts_with("# Many heads\n") && text.contains("{{value many-heads.better}}"));
    assert!(read("w/src/many_heads.rs").contains("enter(\"many-heads.better\", better)"));
    assert!(!text.contains('@') && !read("w/src/many_heads.rs").contains('@'));
}

#[test]
fn a_new_part_gets_a_heading_before_the_appendix() {
    let (_folder, project) = book();
    chapter(&project, "in-practice/speed").unwrap();
    let summary = project.read(Path::new("src/SUMMARY.md")).unwrap();
    assert!(summary.contains(
        "(attention/soft-lookup.md)\n\n# In practice\n\n- [Speed](in-practice/speed.md)\n\n# Appendix\n"
    ));
}

#[test]
fn without_an_appendix_a_new_part_comes_last() {
    let name = Name::parse("b/c").unwrap();
    assert_eq!(
        with_entry("- [A](a/a.md)", &name).unwrap(),
        "- [A](a/a.md)\n\n# B\n\n- [C](b/c.md)\n"
    );
}

#[test]
fn the_module_is_rust_with_a_function_for_each_value() {
    let source = module_source(&Name::parse("attention/many-heads").unwrap());
    let file = syn::parse_file(&source).unwrap();
    let names: Vec<_> = file
        .items
        .iter()
        .filter_map(|item| match item {
            syn::Item::Fn(function) => Some(function.sig.ident.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["enter", "better", "better_gets_more_than_half"]);
}

#[test]
fn names_that_are_none_are_refused_with_a_reason() {
    let (folder, project) = book();
    let before = files(&folder);
    for (name, reason) in [
        ("chapter", "not of the form part/chapter"),
        ("a/b/c", "not of the form part/chapter"),
        ("Attention/heads", "`Attention` is not lower-case words"),
        ("attention/many_heads", "`many_heads` is not lower-case words"),
        ("attention/", "`` is not lower-case words"),
        ("../x", "`..` is not lower-case words"),
        ("attention/2-heads", "`2-heads` is not lower-case words"),
        ("attention/-heads", "`-heads` is not lower-case words"),
        ("attention/match", "`match` is a word of the Rust language"),
        ("katex/heads", "the site needs that name"),
        ("attention/index", "the site needs that name"),
    ] {
        let problems = chapter(&project, name).unwrap_err().to_string();
        assert!(problems.contains(reason), "{name}: {problems}");
        assert!(problems.contains("such as `attention/many-heads`"), "{problems}");
    }
    assert_eq!(files(&folder), before);
}

#[test]
fn what_exists_is_not_overwritten() {
    let (folder, project) = book();
    fs::write(folder.path().join("w/src/heads.rs"), "").unwrap();
    let before = files(&folder);
    let problems = chapter(&project, "attention/heads").unwrap_err().to_string();
    assert!(problems.contains("w/src/heads.rs: exists already"), "{problems}");
    let problems = chapter(&project, "attention/soft-lookup").unwrap_err().to_string();
    assert!(problems.contains("src/SUMMARY.md:7: `attention/soft-lookup.md` is named already"));
    let problems = chapter(&project, "other/qkv").unwrap_err().to_string();
    assert!(problems.contains("w/src/lib.rs:4: the module `qkv` exists already"), "{problems}");
    assert_eq!(files(&folder), before);
}

#[test]
fn a_root_module_without_the_lines_is_a_problem() {
    let (folder, project) = book();
    fs::write(folder.path().join("w/src/lib.rs"), "pub mod a;\n").unwrap();
    let before = files(&folder);
    let problems = chapter(&project, "attention/heads").unwrap_err().to_string();
    assert!(problems.contains("w/src/lib.rs: has no line `…::enter(&mut ledger);`"), "{problems}");
    assert_eq!(files(&folder), before);
}

#[test]
fn what_was_written_is_taken_back_when_a_later_file_cannot_be() {
    let (folder, project) = book();
    let before = files(&folder);
    let mut writes = Writes::new(project.root());
    writes.create(Path::new("src/a/b/c.md"), "text").unwrap();
    writes.replace(Path::new("src/SUMMARY.md"), "changed").unwrap();
    // The name of a folder, which no file can take.
    let problem = writes.create(Path::new("w/src"), "text").unwrap_err();
    assert!(problem.message.starts_with("cannot be written"), "{problem}");
    assert_ne!(files(&folder), before);
    writes.undo();
    assert_eq!(files(&folder), before);
}
