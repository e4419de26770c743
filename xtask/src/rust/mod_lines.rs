//! `mod` lines: which files a file declares as its modules.

use syn::ext::IdentExt;
use syn::{Item, ItemMod};

use super::attributes;
use crate::repository::Source;

/// One `mod name;` line.
#[derive(Debug)]
pub(crate) struct ModLine {
    /// The inline modules around it and its own name: `::inline::name`.
    pub(crate) inside: String,
    /// The paths at which its file may be.
    pub(crate) candidates: Vec<String>,
    /// Whether the module exists in test builds only.
    pub(crate) is_test_only: bool,
    /// Whether the module exists on some machines or with some features only.
    pub(crate) is_conditional: bool,
}

/// Every `mod name;` line of the file, also those in inline modules.
pub(crate) fn of(source: &Source) -> Vec<ModLine> {
    let (dir, file) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    // Cargo's roots and `mod.rs` keep their children beside them, every other file in a directory of its own name.
    let home = match file {
        "mod.rs" | "lib.rs" | "main.rs" => dir.to_owned(),
        _ if dir.ends_with("/src/bin") => dir.to_owned(),
        _ => source.path.trim_end_matches(".rs").to_owned(),
    };
    let mut lines = Vec::new();
    if let Ok(syntax) = &source.syntax {
        let place = Place { dir: dir.to_owned(), home, inside: String::new(), is_test_only: false };
        place.collect(&syntax.items, &mut lines);
    }
    lines
}

/// Where in the file the walk is.
struct Place {
    dir: String,
    home: String,
    inside: String,
    is_test_only: bool,
}

impl Place {
    fn collect(&self, items: &[Item], lines: &mut Vec<ModLine>) {
        for item in items {
            let Item::Mod(module) = item else { continue };
            let place = self.enter(module);
            match &module.content {
                Some((_, items)) => place.collect(items, lines),
                None => lines.push(place.line(module)),
            }
        }
    }

    fn enter(&self, module: &ItemMod) -> Self {
        let name = module.ident.unraw();
        Self {
            dir: self.dir.clone(),
            home: format!("{}/{name}", self.home),
            inside: format!("{}::{name}", self.inside),
            is_test_only: self.is_test_only || attributes::is_test_only(&module.attrs),
        }
    }

    fn line(self, module: &ItemMod) -> ModLine {
        let candidates = match attributes::path_of(&module.attrs) {
            Some(path) => vec![format!("{}/{path}", self.dir)],
            None => vec![format!("{}.rs", self.home), format!("{}/mod.rs", self.home)],
        };
        let is_conditional = attributes::is_conditional(&module.attrs);
        ModLine { inside: self.inside, candidates, is_test_only: self.is_test_only, is_conditional }
    }
}
