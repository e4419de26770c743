//! `Scope`: what one module declares, imports and mentions, as written. Code that exists only in tests is left out.

use std::collections::BTreeSet;
use std::mem;

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, ImplItem, Item, ItemMod, ItemUse, Path, Stmt, TraitItem, Visibility};

use super::attributes;
use super::imports::{self, Import};
use super::tokens;

/// One module of a file: the file itself, or an inline `mod name { .. }`.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// The inline modules around it, `::outer::inner`; empty for the file itself.
    pub(crate) inside: String,
    /// The names it declares.
    pub(crate) items: BTreeSet<String>,
    /// Those of its macros that live at the root of the crate.
    pub(crate) exported_macros: BTreeSet<String>,
    /// Its `use` lines.
    pub(crate) imports: Vec<Import>,
    /// Every path that its code names.
    pub(crate) mentions: Vec<Mention>,
}

/// A path in code, as written, save that names imported inside the same function are written out.
#[derive(Debug)]
pub(crate) struct Mention {
    /// The path: `crate::a::B`, `b::C`, `D`.
    pub(crate) path: String,
    /// The line it stands on.
    pub(crate) line: usize,
}

/// The modules of a file, innermost first; the file itself is the last.
pub(crate) fn of(file: &syn::File) -> Vec<Scope> {
    let mut collector = Collector::default();
    collector.module(String::new(), &file.items);
    collector.done
}

#[derive(Default)]
struct Collector {
    done: Vec<Scope>,
    scope: Scope,
    /// The imports inside functions, innermost last.
    blocks: Vec<Vec<Import>>,
}

impl Collector {
    fn module(&mut self, inside: String, items: &[Item]) {
        let outer = mem::replace(&mut self.scope, Scope { inside, ..Scope::default() });
        for item in items {
            self.declare(item);
            self.visit_item(item);
        }
        let scope = mem::replace(&mut self.scope, outer);
        self.done.push(scope);
    }

    fn declare(&mut self, item: &Item) {
        let Some(name) = name_of(item).filter(|_| !attributes::is_test_only(attributes::of_item(item)))
        else {
            return;
        };
        if matches!(item, Item::Macro(_)) && attributes::has(attributes::of_item(item), "macro_export") {
            self.scope.exported_macros.insert(name.clone());
        }
        self.scope.items.insert(name);
    }

    fn mention(&mut self, path: String, span: Span) {
        let (first, rest) =
            path.split_once("::").map_or((path.as_str(), None), |(first, rest)| (first, Some(rest)));
        let local = self.blocks.iter().rev().flatten().find(|import| import.is_called(first));
        let path = match (local, rest) {
            (None, _) => path,
            (Some(import), None) => import.path.clone(),
            (Some(import), Some(rest)) => format!("{}::{rest}", import.path),
        };
        self.scope.mentions.push(Mention { path, line: span.start().line });
    }
}

impl<'ast> Visit<'ast> for Collector {
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

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        if !attributes::is_test_only(attributes::of_trait_item(item)) {
            visit::visit_trait_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if let Some((_, items)) = &module.content {
            let inside = format!("{}::{}", self.scope.inside, module.ident.unraw());
            self.module(inside, items);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let imports = imports::of(item);
        if self.blocks.is_empty() {
            self.scope.imports.extend(imports);
        } else {
            let mentions = imports.iter().map(|import| Mention { path: import.written(), line: import.line });
            self.scope.mentions.extend(mentions);
        }
    }

    fn visit_block(&mut self, block: &'ast Block) {
        let uses = block.stmts.iter().filter_map(|statement| match statement {
            Stmt::Item(Item::Use(item)) => Some(imports::of(item)),
            _ => None,
        });
        self.blocks.push(uses.flatten().collect());
        visit::visit_block(self, block);
        self.blocks.pop();
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let names: Vec<_> = path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
        let start = if path.leading_colon.is_some() { "::" } else { "" };
        if let Some(first) = path.segments.first() {
            self.mention(format!("{start}{}", names.join("::")), first.ident.span());
        }
        visit::visit_path(self, path);
    }

    fn visit_token_stream(&mut self, tokens: &'ast TokenStream) {
        for (path, span) in tokens::paths(tokens.clone()) {
            self.mention(path, span);
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            for (path, span) in tokens::quoted_paths(list.tokens.clone()) {
                // A module named so is there for its items: `with = "crate::hex"` calls functions of it.
                self.mention(format!("{path}::*"), span);
            }
        }
    }

    /// `pub(crate)` and `pub(in path)` say who may look, not what is used.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}

fn name_of(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.unraw().to_string())
}
