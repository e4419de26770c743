//! A file of a few lines is a part of its one user, not a noun of its own.

use std::collections::BTreeSet;

use syn::Attribute;
use syn::visit::{self, Visit};

use super::{cycles, sizes};
use crate::repository::{Crate, Repository, Source};
use crate::rust::{attributes, mod_lines};
use crate::violation::Violation;

/// The crates that the rule holds for. The others are still to be gone through; each goes onto this list then.
const CRATES: [&str; 4] = ["rheon-macros", "rheon-policy", "rheon-sandbox", "rheon-tools"];

/// How many code lines a file has that needs no second user.
const LINES_MIN: usize = 40;

/// The small files that only one other file uses, and that no machine or feature asks for.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let members = repository.crates().iter().filter(|member| CRATES.contains(&member.name.as_str()));
    members.flat_map(|member| violations_in(repository, member)).collect()
}

fn violations_in(repository: &Repository, member: &Crate) -> Vec<Violation> {
    let src = member.src();
    let lines = repository.sources_in(&src).flat_map(mod_lines::of);
    let conditional: BTreeSet<String> =
        lines.filter(|line| line.is_conditional).flat_map(|line| line.candidates).collect();
    let users = cycles::users(repository, member);
    let lonely = users.into_iter().filter(|(path, users)| *users < 2 && !conditional.contains(path));
    lonely.filter_map(|(path, _)| violation(repository.source(&path)?)).collect()
}

fn violation(source: &Source) -> Option<Violation> {
    let count = sizes::code_lines(&source.text);
    // A file with files below it is their table of contents, and so is the root of a crate.
    let is_contents = source.path.ends_with("/lib.rs")
        || source.path.ends_with("/main.rs")
        || mod_lines::of(source).iter().any(|line| !line.is_test_only);
    (count < LINES_MIN && !is_contents && !is_conditional(source)).then(|| {
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
