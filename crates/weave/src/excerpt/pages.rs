//! Where rustdoc puts an item's page: at the path under which others can reach
//! it, which for an item of a private module is that of its `pub use`.

use std::collections::{BTreeMap, BTreeSet};

use super::resolve::{Found, Seen, Wanted};
use super::{Crates, Item, Kind, Record};

/// The public path of every item and module that has a page, by the path of
/// its definition.
#[derive(Default)]
struct Public {
    items: BTreeMap<String, String>,
    modules: BTreeMap<String, String>,
}

impl Crates {
    /// Gives every item its public path and its API page.
    pub(super) fn set_pages(&mut self) {
        let public = self.public_paths();
        for (path, module) in &mut self.modules {
            if let Some(path) = public.modules.get(path) {
                module.item.api_page = Some(format!("{}/index.html", path.replace("::", "/")));
                path.clone_into(&mut module.item.path);
            }
            for record in module.items.values_mut() {
                record.item.publish(&public);
            }
        }
        let owners: BTreeMap<_, _> = self.owners(&public);
        let associated = std::mem::take(&mut self.associated);
        self.associated = associated
            .into_iter()
            .map(|(owner, mut methods)| {
                let (path, page) = owners.get(&owner).cloned().unwrap_or((owner, None));
                for (name, record) in &mut methods {
                    record.publish_in(&path, page.as_deref(), name);
                }
                (path, methods)
            })
            .collect();
    }

    /// The public path and page of every item, by the path of its definition.
    fn owners(&self, public: &Public) -> BTreeMap<String, (String, Option<String>)> {
        let pages: BTreeMap<_, _> = self
            .modules
            .values()
            .flat_map(|module| module.items.values())
            .map(|record| (record.item.path.clone(), record.item.api_page.clone()))
            .collect();
        let with_page = |path: &String| (path.clone(), pages.get(path).cloned().flatten());
        public.items.iter().map(|(defined, path)| (defined.clone(), with_page(path))).collect()
    }

    /// Walks from the crates' roots through public modules, then again through
    /// what those bring in from private ones.
    fn public_paths(&self) -> Public {
        let mut public = Public::default();
        for root in self.modules.keys().filter(|path| !path.contains("::")) {
            self.publish_module(root, root, &mut public);
        }
        loop {
            let before = (public.items.len(), public.modules.len());
            for (module, path) in public.modules.clone() {
                self.publish_imports(&module, &path, &mut public, &mut BTreeSet::new());
            }
            if before == (public.items.len(), public.modules.len()) {
                return public;
            }
        }
    }

    fn publish_module(&self, module: &str, path: &str, public: &mut Public) {
        if !public.modules.contains_key(module) {
            public.modules.insert(module.to_owned(), path.to_owned());
            self.publish_contents(module, path, public);
        }
    }

    fn publish_contents(&self, module: &str, path: &str, public: &mut Public) {
        for (name, record) in &self.modules[module].items {
            if record.public {
                let defined = record.item.path.clone();
                public.items.entry(defined).or_insert_with(|| format!("{path}::{name}"));
            }
        }
        for name in &self.modules[module].children {
            let child = format!("{module}::{name}");
            if self.modules[&child].public {
                self.publish_module(&child, &format!("{path}::{name}"), public);
            }
        }
    }

    fn publish_imports(
        &self,
        module: &str,
        path: &str,
        public: &mut Public,
        seen: &mut BTreeSet<String>,
    ) {
        if !seen.insert(module.to_owned()) {
            return;
        }
        for import in self.modules[module].imports(true) {
            let (scope, scope_rest) = self.scope(module, &import.target);
            let Some(name) = &import.name else {
                if let (Some(Found::Module(glob)), []) = (scope, scope_rest) {
                    self.publish_contents(&glob, path, public);
                    self.publish_imports(&glob, path, public, seen);
                }
                continue;
            };
            // One `use` brings in a module and a function that share a name.
            let path = format!("{path}::{name}");
            if let (Some(Found::Module(target)), []) = (scope, scope_rest) {
                self.publish_module(&target, &path, public);
            }
            if let Some(record) = self.imported_item(module, &import.target) {
                public.items.entry(record.item.path.clone()).or_insert(path);
            }
        }
    }

    fn imported_item(&self, module: &str, target: &[String]) -> Option<&Record> {
        match self.follow(Some(module), target, Wanted::Item, false, &mut Seen::new()) {
            (Some(Found::Item(record)), []) => Some(record),
            _ => None,
        }
    }
}

impl Item {
    fn publish(&mut self, public: &Public) {
        let Some(path) = public.items.get(&self.path) else { return };
        path.clone_into(&mut self.path);
        if let Some((module, name)) = path.rsplit_once("::") {
            let folder = module.replace("::", "/");
            self.api_page = Some(format!("{folder}/{}.{name}.html", self.kind.page_prefix()));
        }
    }
}

impl Record {
    fn publish_in(&mut self, owner: &str, page: Option<&str>, name: &str) {
        self.item.path = format!("{owner}::{name}");
        self.item.api_page = page
            .filter(|_| self.public)
            .map(|page| format!("{page}#{}.{name}", self.item.kind.page_prefix()));
    }
}

impl Kind {
    /// What rustdoc begins a page's name or an anchor with.
    fn page_prefix(self) -> &'static str {
        match self {
            Kind::Module => "mod",
            Kind::Function => "fn",
            Kind::Struct => "struct",
            Kind::Enum => "enum",
            Kind::Union => "union",
            Kind::Trait => "trait",
            Kind::Constant => "constant",
            Kind::Static => "static",
            Kind::TypeAlias => "type",
            Kind::Macro => "macro",
            Kind::Method => "method",
            Kind::RequiredMethod => "tymethod",
            Kind::AssociatedConstant => "associatedconstant",
        }
    }
}
