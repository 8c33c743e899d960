//! What a function calls: the paths in its body, and where they lead.

use std::collections::BTreeSet;

use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};

use super::imports::flatten;
use super::resolve::{Found, Seen, Wanted};
use super::{Crates, Import, Kind, Record};

impl Crates {
    /// The items of the crates `of_crates` that the function `path` calls,
    /// directly or through functions of its own crate; sorted, each once. A
    /// call such as `Head::new` counts as the type `Head`. Calls of methods on
    /// values cannot be told from the source and are not in the list.
    ///
    /// An unknown path calls nothing.
    #[must_use]
    pub fn uses_of(&self, path: &str, of_crates: &[&str]) -> Vec<String> {
        let Ok(start) = self.item(path) else { return Vec::new() };
        let home = crate_of(&start.path);
        let mut waiting = vec![start.path.clone()];
        let mut visited = BTreeSet::new();
        let mut uses = BTreeSet::new();
        while let Some(path) = waiting.pop() {
            let Some(record) = self.record(&path) else { continue };
            if !visited.insert(path) {
                continue;
            }
            for used in record.mentions.iter().filter_map(|each| self.mentioned(record, each)) {
                let krate = crate_of(&used.item.path);
                if krate == home {
                    waiting.push(used.item.path.clone());
                } else if of_crates.contains(&krate) {
                    uses.insert(item_or_type(used));
                }
            }
        }
        uses.into_iter().collect()
    }

    fn record(&self, path: &str) -> Option<&Record> {
        let parts: Vec<_> = path.split("::").map(str::to_owned).collect();
        match self.follow(None, &parts, Wanted::Item, false, &mut Seen::new()) {
            (Some(Found::Item(record)), []) => Some(record),
            _ => None,
        }
    }

    /// What a path in the body of `record` names.
    fn mentioned(&self, record: &Record, mention: &[String]) -> Option<&Record> {
        let mention = match mention.split_first() {
            // Inside an `impl`, `Self` is the type that the method belongs to.
            Some((first, rest)) if first == "Self" => {
                let (owner, _) = record.item.path.rsplit_once("::")?;
                let owner = [""].into_iter().chain(owner.split("::")).map(str::to_owned);
                owner.chain(rest.iter().cloned()).collect()
            }
            _ => mention.to_vec(),
        };
        let module = Some(record.module.as_str());
        match self.follow(module, &mention, Wanted::Item, false, &mut Seen::new()) {
            // Behind a type: a variant, or a method that a derive or macro made.
            (Some(Found::Item(record)), rest) if rest.len() <= 1 => Some(record),
            _ => None,
        }
    }
}

fn crate_of(path: &str) -> &str {
    path.split("::").next().unwrap_or(path)
}

fn item_or_type(record: &Record) -> String {
    let path = record.item.path.as_str();
    match record.item.kind {
        Kind::Method | Kind::RequiredMethod | Kind::AssociatedConstant => {
            path.rsplit_once("::").map_or(path, |(owner, _)| owner)
        }
        _ => path,
    }
    .to_owned()
}

/// The paths that stand in expressions of `node`, names of local variables left
/// out, and with what the body itself imports put in.
pub(super) fn mentions(node: impl FnOnce(&mut Mentions)) -> Vec<Vec<String>> {
    let mut mentions =
        Mentions { found: Vec::new(), imports: Vec::new(), scopes: vec![Vec::new()] };
    node(&mut mentions);
    let imports = mentions.imports;
    let import_of = |name: &String| imports.iter().find(|each| each.name.as_ref() == Some(name));
    let mut found: Vec<_> = mentions
        .found
        .into_iter()
        .map(|path| match import_of(&path[0]) {
            Some(import) => import.target.iter().chain(&path[1..]).cloned().collect(),
            None => path,
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Walks through a body in the order in which names come into scope.
pub(super) struct Mentions {
    found: Vec<Vec<String>>,
    imports: Vec<Import>,
    scopes: Vec<Vec<String>>,
}

impl Mentions {
    fn scoped(&mut self, walk: impl FnOnce(&mut Mentions)) {
        self.scopes.push(Vec::new());
        walk(self);
        self.scopes.pop();
    }

    fn is_local(&self, name: &str) -> bool {
        self.scopes.iter().flatten().any(|each| each == name)
    }

    fn mention(&mut self, path: &syn::Path) {
        let mut parts: Vec<_> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        let local = path.leading_colon.is_none() && parts.len() == 1 && self.is_local(&parts[0]);
        if path.leading_colon.is_some() {
            parts.insert(0, String::new());
        }
        if !local && !parts.is_empty() {
            self.found.push(parts);
        }
    }
}

impl<'ast> Visit<'ast> for Mentions {
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.mention(&path.path);
        visit::visit_expr_path(self, path);
    }

    fn visit_expr_struct(&mut self, literal: &'ast syn::ExprStruct) {
        self.mention(&literal.path);
        visit::visit_expr_struct(self, literal);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if matches!(&*call.receiver, syn::Expr::Path(path) if path.path.is_ident("self")) {
            self.found.push(vec!["Self".to_owned(), call.method.to_string()]);
        }
        visit::visit_expr_method_call(self, call);
    }

    /// `assert!(softmax(x) …)`: many macros take expressions.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let expressions = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        if let Ok(expressions) = call.parse_body_with(expressions) {
            // What lives only as long as this call has to be walked through
            // here: the walk keeps no references.
            for expression in &expressions {
                Visit::visit_expr(self, expression);
            }
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.imports.extend(flatten(item));
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(pattern.ident.to_string());
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        // `let score = score(x);` calls the function: the variable comes after.
        if let Some(init) = &local.init {
            self.visit_local_init(init);
        }
        self.visit_pat(&local.pat);
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.scoped(|this| visit::visit_block(this, block));
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.scoped(|this| visit::visit_arm(this, arm));
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        self.scoped(|this| visit::visit_expr_closure(this, closure));
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.scoped(|this| visit::visit_expr_if(this, branch));
    }

    fn visit_expr_while(&mut self, repeat: &'ast syn::ExprWhile) {
        self.scoped(|this| visit::visit_expr_while(this, repeat));
    }

    fn visit_expr_let(&mut self, condition: &'ast syn::ExprLet) {
        self.visit_expr(&condition.expr);
        self.visit_pat(&condition.pat);
    }

    fn visit_expr_for_loop(&mut self, repeat: &'ast syn::ExprForLoop) {
        self.visit_expr(&repeat.expr);
        self.scoped(|this| {
            this.visit_pat(&repeat.pat);
            this.visit_block(&repeat.body);
        });
    }
}
