//! Takes up the items of a module: what they are called, what they say, and
//! which paths stand in their bodies. Which file they come from is the loader's.

use std::path::PathBuf;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Attribute, Visibility};

use super::code::{Excerpt, excerpt};
use super::imports::{extern_crate, flatten};
use super::load::{CrateRoot, Loader};
use super::uses::mentions;
use super::{Import, Item, Kind, Record};

/// A source file.
pub(super) struct Source {
    /// Relative to the book's root.
    pub(super) file: PathBuf,
    pub(super) text: String,
    /// Its page among rustdoc's source pages.
    pub(super) page: String,
}

/// Where items are being read.
pub(super) struct Place<'a> {
    pub(super) source: &'a Source,
    pub(super) krate: &'a CrateRoot,
    /// The module they belong to; none where only tests are counted.
    pub(super) module: Option<&'a str>,
    /// Where the files of its modules lie.
    pub(super) children: PathBuf,
    /// Whether that is inside `mod x { … }` rather than at a file's top.
    pub(super) inline: bool,
}

/// What an `impl` block or a trait holds, before the type is looked up.
pub(super) struct Impl {
    /// The module that the block stands in.
    pub(super) module: String,
    /// The type, as the block names it.
    pub(super) owner: Vec<String>,
    pub(super) records: Vec<(String, Record)>,
    pub(super) of_trait: bool,
}

impl Loader<'_> {
    pub(super) fn load_item(&mut self, item: &syn::Item, place: &Place<'_>, module: &str) {
        use syn::Item::{Const, Enum, ExternCrate, Fn, Impl, Macro, Static, Struct, Trait};
        use syn::Item::{Type, Union, Use};
        let entry = Entry { place, module, span: item.span() };
        let (name, record) = match item {
            Fn(it) => {
                let body = mentions(|walk| walk.visit_item_fn(it));
                entry.named(Kind::Function, &it.sig.ident, &it.vis, &it.attrs, body)
            }
            Const(it) => {
                let value = mentions(|walk| walk.visit_expr(&it.expr));
                entry.named(Kind::Constant, &it.ident, &it.vis, &it.attrs, value)
            }
            Static(it) => {
                let value = mentions(|walk| walk.visit_expr(&it.expr));
                entry.named(Kind::Static, &it.ident, &it.vis, &it.attrs, value)
            }
            Struct(it) => entry.named(Kind::Struct, &it.ident, &it.vis, &it.attrs, Vec::new()),
            Enum(it) => entry.named(Kind::Enum, &it.ident, &it.vis, &it.attrs, Vec::new()),
            Union(it) => entry.named(Kind::Union, &it.ident, &it.vis, &it.attrs, Vec::new()),
            Type(it) => entry.named(Kind::TypeAlias, &it.ident, &it.vis, &it.attrs, Vec::new()),
            Trait(it) => {
                self.impls.push(trait_items(it, place, module));
                entry.named(Kind::Trait, &it.ident, &it.vis, &it.attrs, Vec::new())
            }
            Macro(it) => return self.load_macro(it, &entry),
            Impl(it) => return self.impls.extend(impl_items(it, place, module)),
            Use(it) => return self.import(module, flatten(it)),
            ExternCrate(it) => return self.import(module, vec![extern_crate(it)]),
            _ => return,
        };
        self.add(module, name, record);
    }

    /// `#[macro_export]` puts a macro at the crate's root.
    fn load_macro(&mut self, item: &syn::ItemMacro, entry: &Entry<'_>) {
        let Some(ident) = &item.ident else { return };
        let exported = item.attrs.iter().any(|each| each.path().is_ident("macro_export"));
        let module = if exported { &entry.place.krate.name } else { entry.module };
        let entry = Entry { module, ..*entry };
        let name = ident.to_string();
        let record = entry.record(Kind::Macro, &name, exported, &item.attrs, Vec::new());
        self.add(module, name, record);
    }

    /// Of two items with one name (under different `#[cfg]`s), the first stays;
    /// a macro makes way for anything else.
    fn add(&mut self, module: &str, name: String, record: Record) {
        let Some(module) = self.modules.get_mut(module) else { return };
        match module.items.get(&name) {
            Some(there) if there.item.kind != Kind::Macro || record.item.kind == Kind::Macro => {}
            _ => drop(module.items.insert(name, record)),
        }
    }

    fn import(&mut self, module: &str, imports: Vec<Import>) {
        if let Some(module) = self.modules.get_mut(module) {
            module.imports.extend(imports);
        }
    }
}

impl Source {
    pub(super) fn item(&self, kind: Kind, path: String, excerpt: Excerpt) -> Item {
        let Excerpt { first_line, last_line, code } = excerpt;
        let lines = if first_line == last_line {
            first_line.to_string()
        } else {
            format!("{first_line}-{last_line}")
        };
        Item {
            path,
            kind,
            file: self.file.clone(),
            first_line,
            last_line,
            code,
            api_page: None,
            source_page: format!("{}#{lines}", self.page),
        }
    }
}

/// An item about to be taken up.
struct Entry<'a> {
    place: &'a Place<'a>,
    module: &'a str,
    span: Span,
}

impl Entry<'_> {
    fn named(
        &self,
        kind: Kind,
        name: &syn::Ident,
        visibility: &Visibility,
        attributes: &[Attribute],
        mentions: Vec<Vec<String>>,
    ) -> (String, Record) {
        let name = name.to_string();
        let record = self.record(kind, &name, is_public(visibility), attributes, mentions);
        (name, record)
    }

    fn record(
        &self,
        kind: Kind,
        name: &str,
        public: bool,
        attributes: &[Attribute],
        mentions: Vec<Vec<String>>,
    ) -> Record {
        let source = self.place.source;
        let excerpt = excerpt(&source.text, attributes, self.span);
        let item = source.item(kind, format!("{}::{name}", self.module), excerpt);
        Record { item, public, module: self.module.to_owned(), mentions }
    }
}

fn trait_items(item: &syn::ItemTrait, place: &Place<'_>, module: &str) -> Impl {
    let records = item.items.iter().filter_map(|each| {
        let entry = Entry { place, module, span: each.span() };
        let (kind, name, attributes, mentions) = match each {
            syn::TraitItem::Fn(it) => {
                let kind = if it.default.is_some() { Kind::Method } else { Kind::RequiredMethod };
                (kind, &it.sig.ident, &it.attrs, mentions(|walk| walk.visit_trait_item_fn(it)))
            }
            syn::TraitItem::Const(it) => {
                let value = mentions(|walk| walk.visit_trait_item_const(it));
                (Kind::AssociatedConstant, &it.ident, &it.attrs, value)
            }
            _ => return None,
        };
        let name = name.to_string();
        let record = entry.record(kind, &name, true, attributes, mentions);
        Some((name, record))
    });
    let records = records.collect();
    let owner = vec![item.ident.to_string()];
    Impl { module: module.to_owned(), owner, records, of_trait: false }
}

/// What an `impl` block holds, if it is for a type that has a name.
fn impl_items(item: &syn::ItemImpl, place: &Place<'_>, module: &str) -> Option<Impl> {
    let syn::Type::Path(owner) = &*item.self_ty else { return None };
    let of_trait = item.trait_.is_some();
    let records = item.items.iter().filter_map(|each| {
        let entry = Entry { place, module, span: each.span() };
        let (kind, name, visibility, attributes, mentions) = match each {
            syn::ImplItem::Fn(it) => {
                let body = mentions(|walk| walk.visit_impl_item_fn(it));
                (Kind::Method, &it.sig.ident, &it.vis, &it.attrs, body)
            }
            syn::ImplItem::Const(it) => {
                let value = mentions(|walk| walk.visit_impl_item_const(it));
                (Kind::AssociatedConstant, &it.ident, &it.vis, &it.attrs, value)
            }
            _ => return None,
        };
        let name = name.to_string();
        let public = of_trait || is_public(visibility);
        let record = entry.record(kind, &name, public, attributes, mentions);
        Some((name, record))
    });
    let records = records.collect();
    let owner = owner.path.segments.iter().map(|part| part.ident.to_string()).collect();
    Some(Impl { module: module.to_owned(), owner, records, of_trait })
}

pub(super) fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}
