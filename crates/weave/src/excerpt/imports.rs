//! The names that `use` and `extern crate` bring into a module.

use syn::UseTree;

use super::Import;
use super::items::is_public;

/// The names that a `use` brings in.
pub(super) fn flatten(item: &syn::ItemUse) -> Vec<Import> {
    let prefix = item.leading_colon.map(|_| String::new()).into_iter().collect();
    let mut imports = Vec::new();
    flatten_tree(&item.tree, prefix, is_public(&item.vis), &mut imports);
    imports
}

fn flatten_tree(tree: &UseTree, prefix: Vec<String>, public: bool, imports: &mut Vec<Import>) {
    let extended = |name: &syn::Ident| match name.to_string() {
        name if name == "self" && !prefix.is_empty() => prefix.clone(),
        name => prefix.iter().cloned().chain([name]).collect::<Vec<_>>(),
    };
    match tree {
        UseTree::Path(path) => flatten_tree(&path.tree, extended(&path.ident), public, imports),
        UseTree::Name(name) => {
            let target = extended(&name.ident);
            imports.push(Import { name: target.last().cloned(), target, public });
        }
        UseTree::Rename(rename) => {
            let (name, target) = (Some(rename.rename.to_string()), extended(&rename.ident));
            imports.push(Import { name, target, public });
        }
        UseTree::Glob(_) => imports.push(Import { name: None, target: prefix, public }),
        UseTree::Group(group) => {
            for tree in &group.items {
                flatten_tree(tree, prefix.clone(), public, imports);
            }
        }
    }
}

pub(super) fn extern_crate(item: &syn::ItemExternCrate) -> Import {
    let krate = item.ident.to_string();
    let target = match krate.as_str() {
        "self" => vec!["crate".to_owned()],
        _ => vec![String::new(), krate.clone()],
    };
    let name = item.rename.as_ref().map_or(krate, |(_, name)| name.to_string());
    Import { name: Some(name), target, public: is_public(&item.vis) }
}
