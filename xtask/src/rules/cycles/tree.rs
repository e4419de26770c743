//! `Tree`: the modules of a crate, and what a path in one of them means.

use std::collections::BTreeMap;

use crate::repository::{Repository, Source};
use crate::rust::imports::Name;
use crate::rust::mod_lines;
use crate::rust::outline::{self, Scope};

/// The modules of one library or program, by name: `crate`, `crate::a`, `crate::a::b`.
#[derive(Debug, Default)]
pub(super) struct Tree {
    modules: BTreeMap<String, Module>,
}

/// One module.
#[derive(Debug)]
pub(super) struct Module {
    /// The module that its file is; another than itself for an inline module.
    pub(super) file: String,
    /// The path of that file.
    pub(super) path: String,
    /// What it says.
    pub(super) scope: Scope,
}

/// The imported names being resolved, each with its module: a name that needs itself to be resolved is that of another crate,
/// as in `use bitflags::bitflags`.
type Trail = Vec<(String, String)>;

/// What a path means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A module as a whole.
    Module(String),
    /// Something declared in this module.
    ItemOf(String),
}

impl Target {
    /// The module that is meant or that holds what is meant.
    pub(super) fn module(&self) -> &str {
        match self {
            Self::Module(module) | Self::ItemOf(module) => module,
        }
    }
}

impl Tree {
    /// The modules reached by `mod` lines from `root`.
    pub(super) fn read(repository: &Repository, root: &Source) -> Self {
        let mut tree = Self::default();
        let mut open = vec![("crate".to_owned(), root)];
        while let Some((name, source)) = open.pop() {
            if tree.modules.contains_key(&name) || source.is_unit_tests() {
                continue;
            }
            let Ok(syntax) = &source.syntax else { continue };
            for scope in outline::of(syntax) {
                let module = Module { file: name.clone(), path: source.path.clone(), scope };
                tree.modules.insert(format!("{name}{}", module.scope.inside), module);
            }
            for line in mod_lines::of(source).into_iter().filter(|line| !line.is_test_only) {
                let file = line.candidates.iter().find_map(|path| repository.source(path));
                open.extend(file.map(|file| (format!("{name}{}", line.inside), file)));
            }
        }
        tree
    }

    /// Every module, by name.
    pub(super) fn modules(&self) -> impl Iterator<Item = (&str, &Module)> {
        self.modules.iter().map(|(name, module)| (name.as_str(), module))
    }

    /// The module that is the file of `module`.
    pub(super) fn file_of(&self, module: &str) -> Option<&str> {
        self.modules.get(module).map(|module| module.file.as_str())
    }

    /// What `path`, written in the module `from`, means; none if it leads out of the crate.
    pub(super) fn resolve(&self, from: &str, path: &str) -> Option<Target> {
        self.follow(from, path, &mut Vec::new())
    }

    /// Whether `path`, as written in the module `from`, goes into a file below that of `from`. Re-exports on the way
    /// are not followed: what a child hands on is the child's affair.
    pub(super) fn is_below(&self, from: &str, path: &str) -> bool {
        let mut at = from.to_owned();
        for name in path.split("::") {
            at = match name {
                "crate" => name.to_owned(),
                "self" => at,
                "super" => parent(&at).unwrap_or(&at).to_owned(),
                name if self.modules.contains_key(&format!("{at}::{name}")) => format!("{at}::{name}"),
                _ => break,
            };
        }
        match (self.file_of(from), self.file_of(&at)) {
            (Some(own), Some(other)) => other.strip_prefix(own).is_some_and(|rest| rest.starts_with("::")),
            _ => false,
        }
    }

    fn follow(&self, from: &str, path: &str, trail: &mut Trail) -> Option<Target> {
        let (first, rest) = split(path);
        match first {
            "" => None,
            "crate" => self.walk("crate", rest, trail),
            "self" => self.walk(from, rest, trail),
            "super" => self.walk(parent(from)?, rest, trail),
            _ => self.look_up(from, path, trail),
        }
    }

    /// What `rest` means inside `module`. A name that the module does not show is taken for an item of it, made by a
    /// macro.
    fn walk(&self, module: &str, rest: Option<&str>, trail: &mut Trail) -> Option<Target> {
        let Some(rest) = rest else { return Some(Target::Module(module.to_owned())) };
        match split(rest) {
            ("super", after) => self.walk(parent(module)?, after, trail),
            ("self", after) => self.walk(module, after, trail),
            _ => self.look_up(module, rest, trail).or_else(|| Some(Target::ItemOf(module.to_owned()))),
        }
    }

    /// What a path means that begins with a name in `module`: a child, an item, an import, or a name behind a glob.
    fn look_up(&self, module: &str, path: &str, trail: &mut Trail) -> Option<Target> {
        let (first, rest) = split(path);
        let child = format!("{module}::{first}");
        if self.modules.contains_key(&child) {
            return self.walk(&child, rest, trail);
        }
        if self.modules.get(module)?.scope.items.contains(first) {
            return Some(Target::ItemOf(module.to_owned()));
        }
        let question = (module.to_owned(), first.to_owned());
        if trail.contains(&question) {
            return None;
        }
        trail.push(question);
        let answer = self.look_up_imported(module, path, trail);
        trail.pop();
        answer
    }

    fn look_up_imported(&self, module: &str, path: &str, trail: &mut Trail) -> Option<Target> {
        let (first, rest) = split(path);
        let imports = &self.modules.get(module)?.scope.imports;
        if let Some(import) = imports.iter().find(|import| import.is_called(first)) {
            let path = rest.map_or_else(|| import.path.clone(), |rest| format!("{}::{rest}", import.path));
            // What comes from another crate counts as the module's own.
            return self.follow(module, &path, trail).or_else(|| Some(Target::ItemOf(module.to_owned())));
        }
        for glob in imports.iter().filter(|import| import.name == Name::Glob) {
            if let Some(Target::Module(shown)) = self.follow(module, &glob.path, trail)
                && let Some(target) = self.look_up(&shown, path, trail)
            {
                return Some(target);
            }
        }
        if module == "crate" { self.exported_macro(first) } else { None }
    }

    /// The module that declares a `#[macro_export]` macro, which lives at the root of the crate.
    fn exported_macro(&self, name: &str) -> Option<Target> {
        let owner = self.modules().find(|(_, module)| module.scope.exported_macros.contains(name))?;
        Some(Target::ItemOf(owner.0.to_owned()))
    }
}

fn parent(module: &str) -> Option<&str> {
    module.rsplit_once("::").map(|(parent, _)| parent)
}

fn split(path: &str) -> (&str, Option<&str>) {
    path.split_once("::").map_or((path, None), |(first, rest)| (first, Some(rest)))
}
