//! Reads the source files of crates: follows `mod x;` from file to file as the
//! compiler would, and takes up every item.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use serde::Deserialize;
use syn::Attribute;
use syn::spanned::Spanned;

use super::code::{Excerpt, excerpt, whole_file};
use super::count::count_tests;
use super::items::{Impl, Place, Source, is_public};
use super::{Crates, Kind, Module};
use crate::problem::{Problem, Problems};

/// The parts of a Cargo.toml that say what the crate is called and where it
/// lies.
#[derive(Deserialize)]
struct Manifest {
    package: Package,
    #[serde(default)]
    lib: Target,
    #[serde(default)]
    bin: Vec<Target>,
    #[serde(default)]
    test: Vec<Target>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
}

#[derive(Default, Deserialize)]
struct Target {
    name: Option<String>,
    path: Option<PathBuf>,
}

/// A crate's name, and the folder of its `lib.rs`.
pub(super) struct CrateRoot {
    pub(super) name: String,
    folder: PathBuf,
}

pub(super) struct Loader<'a> {
    root: &'a Path,
    pub(super) modules: BTreeMap<String, Module>,
    pub(super) impls: Vec<Impl>,
    files: BTreeSet<PathBuf>,
    tests: usize,
    problems: Problems,
}

impl Loader<'_> {
    pub(super) fn new(root: &Path) -> Loader<'_> {
        Loader {
            root,
            modules: BTreeMap::new(),
            impls: Vec::new(),
            files: BTreeSet::new(),
            tests: 0,
            problems: Problems::default(),
        }
    }

    pub(super) fn finish(mut self) -> Result<(Crates, Vec<Impl>), Problems> {
        // Of two methods of one name, `Type::name` means the type's own.
        self.impls.sort_by_key(|block| block.of_trait);
        let crates =
            Crates { modules: self.modules, associated: BTreeMap::new(), tests: self.tests };
        self.problems.or((crates, self.impls))
    }

    /// Reads the crate in a folder: its items from the library, or the program
    /// if it has no library; its tests from everything.
    pub(super) fn load_crate(&mut self, folder: &Path) {
        match self.manifest(folder) {
            Ok(manifest) => self.load_targets(folder, manifest),
            Err(problem) => self.problems.push(problem),
        }
    }

    fn manifest(&self, folder: &Path) -> Result<Manifest, Problem> {
        let file = folder.join("Cargo.toml");
        let text = self.read(&file)?;
        toml::from_str(&text).map_err(|error| {
            let line = error.span().map(|span| 1 + text[..span.start].matches('\n').count());
            Problem { line, ..Problem::in_file(&file, error.message().trim()) }
        })
    }

    fn load_targets(&mut self, folder: &Path, manifest: Manifest) {
        let library = manifest.lib.path.unwrap_or_else(|| "src/lib.rs".into());
        let mut roots = vec![folder.join(library), folder.join("src/main.rs")];
        roots.extend(
            manifest.bin.into_iter().filter_map(|each| each.path).map(|at| folder.join(at)),
        );
        roots.retain(|file| self.root.join(file).is_file());
        let Some(main) = roots.first().cloned() else {
            let problem = Problem::in_file(folder.join("Cargo.toml"), "the crate has no source");
            return self.problems.push(problem.hint("write its `src/lib.rs`"));
        };
        let name = manifest.lib.name.unwrap_or(manifest.package.name).replace('-', "_");
        let krate = CrateRoot { name, folder: parent(&main) };
        self.load_file(&krate, main, Some((&krate.name, true)), krate.folder.clone(), None);

        roots.extend(self.programs_in(&folder.join("src/bin")));
        roots.extend(self.programs_in(&folder.join("tests")));
        roots.extend(
            manifest.test.into_iter().filter_map(|each| each.path).map(|at| folder.join(at)),
        );
        for file in roots {
            let children = parent(&file);
            self.load_file(&krate, file, None, children, None);
        }
    }

    /// The files that cargo takes for programs of their own: `x.rs`, and
    /// `x/main.rs`.
    fn programs_in(&self, folder: &Path) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.root.join(folder)) else { return Vec::new() };
        let names = entries.filter_map(Result::ok).map(|entry| folder.join(entry.file_name()));
        let mut programs: Vec<_> = names
            .map(|path| {
                if path.extension().is_some_and(|is| is == "rs") {
                    path
                } else {
                    path.join("main.rs")
                }
            })
            .filter(|file| self.root.join(file).is_file())
            .collect();
        programs.sort();
        programs
    }

    fn read(&self, file: &Path) -> Result<String, Problem> {
        let text = fs::read_to_string(self.root.join(file)).map_err(|error| {
            let message = match error.kind() {
                io::ErrorKind::NotFound => "no such file".to_owned(),
                io::ErrorKind::InvalidData => "the file is not UTF-8".to_owned(),
                _ => format!("cannot read the file: {error}"),
            };
            Problem::in_file(file, message)
        })?;
        Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
    }

    /// Reads a file as the module with that path and visibility, or only for
    /// its tests. Each file is read once.
    fn load_file(
        &mut self,
        krate: &CrateRoot,
        file: PathBuf,
        module: Option<(&str, bool)>,
        children: PathBuf,
        declared: Option<Problem>,
    ) {
        if !self.files.insert(file.clone()) {
            return;
        }
        let text = match self.read(&file) {
            Ok(text) => text,
            Err(problem) => return self.problems.push(declared.unwrap_or(problem)),
        };
        let syntax = match syn::parse_file(&text) {
            Ok(syntax) => syntax,
            Err(error) => {
                let line = error.span().start().line;
                let problem = Problem::at(&file, line, format!("cannot parse the file: {error}"));
                return self.problems.push(problem);
            }
        };
        self.tests += count_tests(&syntax);
        let source = Source { page: source_page(krate, &file), file, text };
        if let Some((path, public)) = module {
            self.add_module(&source, path, public, whole_file(&source.text));
        }
        let module = module.map(|(path, _)| path);
        let place = Place { source: &source, krate, module, children, inline: false };
        self.load_items(&syntax.items, &place);
    }

    fn add_module(&mut self, source: &Source, path: &str, public: bool, excerpt: Excerpt) {
        let item = source.item(Kind::Module, path.to_owned(), excerpt);
        self.modules.insert(
            path.to_owned(),
            Module {
                public,
                item,
                items: BTreeMap::new(),
                children: Vec::new(),
                imports: Vec::new(),
            },
        );
    }

    fn load_items(&mut self, items: &[syn::Item], place: &Place<'_>) {
        for item in items {
            if let syn::Item::Mod(module) = item {
                self.load_module(module, place);
            } else if let Some(module) = place.module {
                self.load_item(item, place, module);
            }
        }
    }

    fn load_module(&mut self, item: &syn::ItemMod, place: &Place<'_>) {
        let name = item.ident.to_string();
        let path = place
            .module
            .filter(|_| !is_test_only(&item.attrs))
            .map(|module| (module, format!("{module}::{name}")));
        if let Some((parent, _)) = &path
            && let Some(parent) = self.modules.get_mut(*parent)
        {
            parent.children.push(name.clone());
        }
        let path = path.map(|(_, path)| path);
        match &item.content {
            Some((_, items)) => {
                if let Some(path) = &path {
                    let excerpt = excerpt(&place.source.text, &item.attrs, item.span());
                    self.add_module(place.source, path, is_public(&item.vis), excerpt);
                }
                let folder = given_path(&item.attrs).unwrap_or_else(|| name.into());
                let children = place.children.join(folder);
                let place = Place { module: path.as_deref(), children, inline: true, ..*place };
                self.load_items(items, &place);
            }
            None => {
                let (file, children) = self.file_of(item, &name, place);
                let missing = Problem::at(
                    &place.source.file,
                    item.span().end().line,
                    format!("`mod {name};` names a file that cannot be read"),
                );
                let missing = missing.hint(format!("it should lie at {}", file.display()));
                let module = path.as_deref().map(|path| (path, is_public(&item.vis)));
                self.load_file(place.krate, file, module, children, Some(missing));
                if let Some(path) = path
                    && !self.modules.contains_key(&path)
                    && let Some((parent, _)) = path.rsplit_once("::")
                    && let Some(parent) = self.modules.get_mut(parent)
                {
                    parent.children.retain(|child| *child != name);
                }
            }
        }
    }

    /// The file of `mod x;`, and where the files of its own modules lie.
    fn file_of(&self, item: &syn::ItemMod, name: &str, place: &Place<'_>) -> (PathBuf, PathBuf) {
        if let Some(given) = given_path(&item.attrs) {
            let folder =
                if place.inline { place.children.clone() } else { parent(&place.source.file) };
            let file = tidy(&folder.join(given));
            let children = parent(&file);
            return (file, children);
        }
        let children = place.children.join(name);
        let folder_file = children.join("mod.rs");
        let file = if self.root.join(&folder_file).is_file() {
            folder_file
        } else {
            place.children.join(format!("{name}.rs"))
        };
        (file, children)
    }
}

/// Whether something is compiled for tests only.
fn is_test_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|each| {
        each.path().is_ident("cfg")
            && each.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
    })
}

/// The file that `#[path = "…"]` names.
fn given_path(attributes: &[Attribute]) -> Option<PathBuf> {
    attributes.iter().find_map(|each| match &each.meta {
        syn::Meta::NameValue(meta) if meta.path.is_ident("path") => match &meta.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => {
                Some(text.value().into())
            }
            _ => None,
        },
        _ => None,
    })
}

fn source_page(krate: &CrateRoot, file: &Path) -> String {
    let inside = file.strip_prefix(&krate.folder).unwrap_or(file);
    let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
    format!("src/{}/{}.html", krate.name, parts.join("/"))
}

fn parent(file: &Path) -> PathBuf {
    file.parent().map(Path::to_owned).unwrap_or_default()
}

/// The path without `.` and `..` where they can be worked out.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if tidy.file_name().is_some() => drop(tidy.pop()),
            other => tidy.push(other),
        }
    }
    tidy
}
