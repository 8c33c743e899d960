//! Counts the tests in a source file.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// How many functions of the file are tests.
pub(super) fn count_tests(file: &syn::File) -> usize {
    let mut counter = Counter(0);
    counter.visit_file(file);
    counter.0
}

struct Counter(usize);

impl<'ast> Visit<'ast> for Counter {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.0 += usize::from(function.attrs.iter().any(|each| ends_in_test(each.path())));
        visit::visit_item_fn(self, function);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        if call.path.segments.last().is_some_and(|last| last.ident == "proptest") {
            self.0 += count_attributes(call.tokens.clone());
        }
    }
}

fn ends_in_test(path: &syn::Path) -> bool {
    path.segments.last().is_some_and(|last| last.ident == "test")
}

/// How often `#[test]` stands in the tokens of a macro's call.
fn count_attributes(tokens: TokenStream) -> usize {
    let mut count = 0;
    let mut after_hash = false;
    for token in tokens {
        if let TokenTree::Group(group) = &token {
            let attribute = after_hash && group.delimiter() == Delimiter::Bracket;
            count += if attribute {
                usize::from(syn::parse2(group.stream()).is_ok_and(|path| ends_in_test(&path)))
            } else {
                count_attributes(group.stream())
            };
        }
        after_hash = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#');
    }
    count
}
