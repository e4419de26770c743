//! A file of a few lines is a part of its one user, not a noun of its own.

use std::collections::{BTreeMap, BTreeSet};

use syn::Attribute;
use syn::visit::{self, Visit};

use super::{cycles, sizes};
use crate::repository::{Crate, Repository, Source};
use crate::rust::{attributes, mod_lines, outline};
use crate::violation::Violation;

/// How many code lines a file has that needs no second user.
const LINES_MIN: usize = 40;

/// The crate whose files are the modules that its users see, however little is in one.
const FACADE: &str = "rheon";

/// Directories in which a file is one row of a table, however short: who looks for the row looks for its file.
const ONE_EACH: [&str; 3] = [
    // A file is a command of the program.
    "crates/rheon-cli/src/command/",
    // A file is a step of a turn.
    "crates/rheon-agent/src/step/",
    // A file is a rule.
    "xtask/src/rules/",
];

/// The small files that only one other file uses, and that no machine or feature asks for.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let named = Named::read(repository);
    let members = repository.crates().iter().filter(|member| member.name != FACADE);
    members.flat_map(|member| violations_in(repository, member, &named)).collect()
}

fn violations_in(repository: &Repository, member: &Crate, named: &Named) -> Vec<Violation> {
    let src = member.src();
    let lines = repository.sources_in(&src).flat_map(mod_lines::of);
    let conditional: BTreeSet<String> =
        lines.filter(|line| line.is_conditional).flat_map(|line| line.candidates).collect();
    let mut violations = Vec::new();
    for (path, inside) in cycles::users(repository, member) {
        let Some(source) = repository.source(&path) else { continue };
        let is_lonely = inside < 2 && inside + named.users(member, source) < 2;
        let is_row = ONE_EACH.iter().any(|dir| path.starts_with(dir));
        if is_lonely && !is_row && !conditional.contains(&path) {
            violations.extend(violation(source));
        }
    }
    violations
}

/// Which names of our libraries are named elsewhere: in other crates, or in the program beside a library.
#[derive(Default)]
struct Named {
    /// By library and name, the files that name it.
    files: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
}

impl Named {
    fn read(repository: &Repository) -> Self {
        let libraries: BTreeSet<String> = repository.crates().iter().map(library).collect();
        let mut named = Self::default();
        for member in repository.crates() {
            for source in repository.sources_in(&member.src()).filter(|source| !source.is_unit_tests()) {
                for path in paths(source) {
                    let mut names = path.split("::").skip_while(|name| name.is_empty());
                    let Some(library) = names.next().filter(|first| libraries.contains(*first)) else {
                        continue;
                    };
                    let known = named.files.entry(library.to_owned()).or_default();
                    names.for_each(|name| {
                        known.entry(name.to_owned()).or_default().insert(source.path.clone());
                    });
                }
            }
        }
        named
    }

    /// How many files elsewhere name something of `source`.
    fn users(&self, member: &Crate, source: &Source) -> usize {
        let (Some(known), Ok(syntax)) = (self.files.get(&library(member)), &source.syntax) else { return 0 };
        let items = outline::of(syntax).into_iter().flat_map(|scope| scope.items);
        items.filter_map(|item| known.get(&item)).flatten().collect::<BTreeSet<_>>().len()
    }
}

/// What other crates call it.
fn library(member: &Crate) -> String {
    member.name.replace('-', "_")
}

/// Every path that the file uses. What it only hands on is not used.
fn paths(source: &Source) -> Vec<String> {
    let Ok(syntax) = &source.syntax else { return Vec::new() };
    let mut paths = Vec::new();
    for scope in outline::of(syntax) {
        let imports = scope.imports.into_iter().filter(|import| !import.is_exported);
        paths.extend(imports.map(|import| import.path));
        paths.extend(scope.mentions.into_iter().map(|mention| mention.path));
    }
    paths
}

fn violation(source: &Source) -> Option<Violation> {
    let count = sizes::code_lines(&source.text);
    // A file with files below it is their table of contents, and so is the root of a crate.
    let is_contents = source.path.ends_with("/lib.rs")
        || source.path.ends_with("/main.rs")
        || mod_lines::of(source).iter().any(|line| !line.is_test_only);
    // A file without code is a page of documentation.
    ((1..LINES_MIN).contains(&count) && !is_contents && !is_conditional(source)).then(|| {
        let message = format!(
            "has {count} code lines and no second user, {LINES_MIN} are wanted; move them into the file that uses them"
        );
        Violation::new(&source.path, 1, message)
    })
}

/// Whether something in the file is for some machines or features only.
fn is_conditional(source: &Source) -> bool {
    let mut look = Look(false);
    if let Ok(syntax) = &source.syntax {
        look.visit_file(syntax);
    }
    look.0
}

/// Whether an attribute with a condition was seen.
struct Look(bool);

impl<'ast> Visit<'ast> for Look {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        self.0 |= attributes::is_conditional(std::slice::from_ref(attribute));
        visit::visit_attribute(self, attribute);
    }
}
