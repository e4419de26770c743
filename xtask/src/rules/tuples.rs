//! No parameter is a tuple: what belongs together has a name, and so have its parts.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::{
    FnArg, GenericArgument, ImplItem, ImplItemFn, Item, ItemFn, ItemImpl, PathArguments, Signature,
    TraitItemFn, Type,
};

use crate::repository::{Repository, Source};
use crate::rust::{attributes, mod_lines};
use crate::violation::Violation;

/// The parameters of functions that are tuples. Closures take what iterators give them, and the methods of a trait are
/// judged where the trait is declared, if it is ours.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let lines = repository.sources().flat_map(mod_lines::of).filter(|line| line.is_test_only);
    let test_only: BTreeSet<String> = lines.flat_map(|line| line.candidates).collect();
    let is_checked = |source: &&Source| !source.is_unit_tests() && !test_only.contains(&source.path);
    let mut violations = Vec::new();
    for member in repository.crates() {
        violations.extend(repository.sources_in(&member.src()).filter(is_checked).flat_map(violations_in));
    }
    violations
}

fn violations_in(source: &Source) -> Vec<Violation> {
    let Ok(syntax) = &source.syntax else { return Vec::new() };
    let mut look = Look { path: &source.path, violations: Vec::new() };
    look.visit_file(syntax);
    look.violations
}

struct Look<'a> {
    path: &'a str,
    violations: Vec<Violation>,
}

impl Look<'_> {
    fn function(&mut self, signature: &Signature) {
        let takes_tuple = signature
            .inputs
            .iter()
            .any(|input| matches!(input, FnArg::Typed(parameter) if is_tuple(&parameter.ty)));
        if takes_tuple {
            let name = signature.ident.to_string();
            let line = signature.fn_token.span.start().line;
            let message = format!("{name} takes a tuple; name what it is with a struct, or take its parts");
            self.violations.push(Violation::new(self.path, line, message).about(name));
        }
    }
}

/// Whether the type is a tuple, also a reference to one or an option of one. `()` is nothing, and has no parts to name.
fn is_tuple(of: &Type) -> bool {
    match of {
        Type::Tuple(tuple) => !tuple.elems.is_empty(),
        Type::Reference(reference) => is_tuple(&reference.elem),
        Type::Paren(inner) => is_tuple(&inner.elem),
        Type::Path(path) => {
            let option = path.path.segments.last().filter(|last| last.ident == "Option");
            let Some(PathArguments::AngleBracketed(inside)) = option.map(|option| &option.arguments) else {
                return false;
            };
            inside.args.iter().any(|argument| matches!(argument, GenericArgument::Type(of) if is_tuple(of)))
        }
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Look<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !attributes::is_test_only(attributes::of_item(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        if !attributes::is_test_only(attributes::of_impl_item(item)) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if item.trait_.is_none() {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.function(&item.sig);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.function(&item.sig);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        self.function(&item.sig);
        visit::visit_trait_item_fn(self, item);
    }
}
