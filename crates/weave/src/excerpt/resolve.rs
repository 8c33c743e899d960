//! From a path to what it names: through modules, imports, renames and globs.

use std::collections::BTreeSet;

use super::items::Impl;
use super::{Crates, Import, Module, Record};

/// What a path names.
#[derive(Clone, Debug)]
pub(super) enum Found<'a> {
    /// The module with this path.
    Module(String),
    /// An item.
    Item(&'a Record),
}

/// Which of two things that share a name is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wanted {
    /// A function or another item rather than a module.
    Item,
    /// A module or a type, which a path can go on behind.
    Scope,
}

/// The names already being looked up, against imports that go round in circles.
pub(super) type Seen = BTreeSet<(String, String, Wanted)>;

impl Crates {
    /// Follows a path as far as it leads: what was found, and the rest that was
    /// not. `wanted` says what its end may be. From inside the module `from`, `crate`, `self`, `super` and its own
    /// names may begin the path; otherwise a crate's name does. With
    /// `public_only`, only `pub use` leads on.
    pub(super) fn follow<'a, 'p>(
        &'a self,
        from: Option<&str>,
        path: &'p [String],
        wanted: Wanted,
        public_only: bool,
        seen: &mut Seen,
    ) -> (Option<Found<'a>>, &'p [String]) {
        let Some((mut found, mut rest)) = self.begin(from, path, wanted, public_only, seen) else {
            return (None, path);
        };
        while let Some((name, behind)) = rest.split_first() {
            let next = match &found {
                Found::Module(module) if name == "super" => {
                    module.rsplit_once("::").map(|(parent, _)| Found::Module(parent.to_owned()))
                }
                Found::Module(module) => {
                    self.lookup(module, name, wanted.behind(behind), public_only, seen)
                }
                Found::Item(owner) => self.method(&owner.item.path, name),
            };
            let Some(next) = next else { break };
            (found, rest) = (next, behind);
        }
        (Some(found), rest)
    }

    /// The module or type that a path names in a module.
    pub(super) fn scope<'a, 'p>(
        &'a self,
        from: &str,
        path: &'p [String],
    ) -> (Option<Found<'a>>, &'p [String]) {
        self.follow(Some(from), path, Wanted::Scope, false, &mut Seen::new())
    }

    /// The beginning of a path.
    fn begin<'a, 'p>(
        &'a self,
        from: Option<&str>,
        path: &'p [String],
        wanted: Wanted,
        public_only: bool,
        seen: &mut Seen,
    ) -> Option<(Found<'a>, &'p [String])> {
        let (first, rest) = path.split_first()?;
        let module = |path: &str| Some(Found::Module(path.to_owned()));
        let external =
            |name: &String| self.modules.contains_key(name).then(|| Found::Module(name.clone()));
        let found = match (first.as_str(), from) {
            ("", _) => {
                let (name, rest) = rest.split_first()?;
                return Some((external(name)?, rest));
            }
            ("crate", Some(from)) => module(from.split("::").next()?),
            ("self", Some(from)) => module(from),
            ("super", Some(from)) => module(from.rsplit_once("::")?.0),
            (_, Some(from)) => self
                .lookup(from, first, wanted.behind(rest), public_only, seen)
                .or_else(|| external(first)),
            (_, None) => external(first),
        };
        Some((found?, rest))
    }

    /// What `name` means in a module.
    fn lookup<'a>(
        &'a self,
        module: &str,
        name: &str,
        wanted: Wanted,
        public_only: bool,
        seen: &mut Seen,
    ) -> Option<Found<'a>> {
        let key = (module.to_owned(), name.to_owned(), wanted);
        if !seen.insert(key.clone()) {
            return None;
        }
        let found = self.lookup_unguarded(module, name, wanted, public_only, seen);
        seen.remove(&key);
        found
    }

    fn lookup_unguarded<'a>(
        &'a self,
        path: &str,
        name: &str,
        wanted: Wanted,
        public_only: bool,
        seen: &mut Seen,
    ) -> Option<Found<'a>> {
        let module = self.modules.get(path)?;
        let own_item = module.items.get(name).map(Found::Item);
        let own_module =
            || module.has_child(name).then(|| Found::Module(format!("{path}::{name}")));
        if wanted == Wanted::Item && own_item.is_some() {
            return own_item;
        }
        if wanted == Wanted::Scope
            && let Some(child) = own_module().or(own_item)
        {
            return Some(child);
        }
        let mut other = None;
        for import in module.imports(public_only) {
            let target = match &import.name {
                Some(imported) if imported == name => {
                    let mut target = self.follow(Some(path), &import.target, wanted, false, seen);
                    target.0.take_if(|_| target.1.is_empty())
                }
                Some(_) => None,
                None => match self.follow(Some(path), &import.target, Wanted::Scope, false, seen) {
                    (Some(Found::Module(glob)), []) => {
                        self.lookup(&glob, name, wanted, public_only, seen)
                    }
                    _ => None,
                },
            };
            match target {
                Some(Found::Item(record)) => return Some(Found::Item(record)),
                Some(found) => other = Some(found),
                None => {}
            }
        }
        own_module().or(other)
    }

    fn method(&self, owner: &str, name: &str) -> Option<Found<'_>> {
        self.associated.get(owner)?.get(name).map(Found::Item)
    }

    /// Puts what the `impl` blocks hold with the types that they are for.
    pub(super) fn attach(&mut self, impls: Vec<Impl>) {
        for block in impls {
            let target = self.scope(&block.module, &block.owner);
            let (Some(Found::Item(owner)), []) = target else { continue };
            let path = owner.item.path.clone();
            let methods = self.associated.entry(path.clone()).or_default();
            for (name, mut record) in block.records {
                record.item.path = format!("{path}::{name}");
                methods.entry(name).or_insert(record);
            }
        }
    }

    /// Every name that may follow `found`; without it, the names of the crates.
    pub(super) fn names_in(&self, found: Option<&Found<'_>>) -> Vec<String> {
        match found {
            None => self.modules.keys().filter(|path| !path.contains("::")).cloned().collect(),
            Some(Found::Item(owner)) => {
                let methods = self.associated.get(&owner.item.path);
                methods.into_iter().flat_map(|methods| methods.keys().cloned()).collect()
            }
            Some(Found::Module(path)) => self.names_in_module(path, &mut BTreeSet::new()),
        }
    }

    fn names_in_module(&self, path: &str, seen: &mut BTreeSet<String>) -> Vec<String> {
        let Some(module) = self.modules.get(path).filter(|_| seen.insert(path.to_owned())) else {
            return Vec::new();
        };
        let mut names: Vec<_> = module.items.keys().chain(&module.children).cloned().collect();
        for import in module.imports(true) {
            match &import.name {
                Some(name) => names.push(name.clone()),
                None => {
                    let glob = self.scope(path, &import.target);
                    if let (Some(Found::Module(glob)), []) = glob {
                        names.extend(self.names_in_module(&glob, seen));
                    }
                }
            }
        }
        names
    }
}

impl Wanted {
    /// What is wanted of a name in a path that goes on with `rest`.
    fn behind(self, rest: &[String]) -> Wanted {
        if rest.is_empty() { self } else { Wanted::Scope }
    }
}

impl Module {
    fn has_child(&self, name: &str) -> bool {
        self.children.iter().any(|child| child == name)
    }

    pub(super) fn imports(&self, public_only: bool) -> impl Iterator<Item = &Import> {
        self.imports.iter().filter(move |import| import.public || !public_only)
    }
}
