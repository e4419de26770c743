//! `Import`: one name that a `use` line brings in; a line with braces is several.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::{ItemUse, UseTree, Visibility};

/// One name brought into a module.
#[derive(Debug, Clone)]
pub(crate) struct Import {
    /// What it is called here.
    pub(crate) name: Name,
    /// Where it comes from, as written: `crate::a::B`, `super::B`, `::std::env`. For a glob, the module before the star.
    pub(crate) path: String,
    /// The line it stands on.
    pub(crate) line: usize,
    /// Whether others can reach it through this module.
    pub(crate) is_exported: bool,
}

/// What an import is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Name {
    /// One name.
    Is(String),
    /// Whatever the module has: `use a::*`.
    Glob,
}

impl Import {
    /// Whether it brings in exactly this name.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        matches!(&self.name, Name::Is(own) if own == name)
    }

    /// The path with the star of a glob.
    pub(crate) fn written(&self) -> String {
        match self.name {
            Name::Is(_) => self.path.clone(),
            Name::Glob => format!("{}::*", self.path),
        }
    }
}

/// The imports of a `use` line.
pub(crate) fn of(item: &ItemUse) -> Vec<Import> {
    let prefix = if item.leading_colon.is_some() { vec![String::new()] } else { Vec::new() };
    let is_exported = !matches!(item.vis, Visibility::Inherited);
    let mut imports = Vec::new();
    flatten(&item.tree, &prefix, &mut |path, name, line| {
        imports.push(Import { name, path: path.join("::"), line, is_exported });
    });
    imports
}

fn flatten(tree: &UseTree, prefix: &[String], found: &mut dyn FnMut(&[String], Name, usize)) {
    match tree {
        UseTree::Path(path) => flatten(&path.tree, &extended(prefix, &path.ident), found),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, prefix, found)),
        UseTree::Glob(glob) => found(prefix, Name::Glob, glob.star_token.span.start().line),
        UseTree::Name(name) => {
            let path = extended(prefix, &name.ident);
            let own = path.last().cloned().unwrap_or_default();
            found(&path, Name::Is(own), name.ident.span().start().line);
        }
        UseTree::Rename(rename) => {
            let own = rename.rename.unraw().to_string();
            found(&extended(prefix, &rename.ident), Name::Is(own), rename.ident.span().start().line);
        }
    }
}

/// The path one step further. `a::{self}` is `a`; a lone `self` or `crate` stays as it is.
fn extended(prefix: &[String], ident: &Ident) -> Vec<String> {
    let own = ident.unraw().to_string();
    let is_prefix_itself = own == "self" && !prefix.is_empty();
    prefix.iter().cloned().chain((!is_prefix_itself).then_some(own)).collect()
}
