//! The table of rules; one file each.

pub mod cycles;
pub mod docs;
pub mod edges;
pub mod header;
pub mod it_files;
pub mod named_tests;
pub mod sizes;
pub mod small_files;
pub mod syntax;
pub mod system_access;
pub mod tuples;
pub mod unique_types;
pub mod words;

use crate::exceptions::{self, EXCEPTIONS, Finding};
use crate::repository::Repository;
use crate::violation::Violation;

/// A rule of the architecture.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// What exceptions call it.
    pub name: &'static str,
    /// What breaks it.
    pub check: fn(&Repository) -> Vec<Violation>,
}

/// Every rule.
pub const RULES: &[Rule] = &[
    Rule { name: "crate edges", check: edges::check },
    Rule { name: "module cycles", check: cycles::check },
    Rule { name: "system access", check: system_access::check },
    Rule { name: "header", check: header::check },
    Rule { name: "sizes", check: sizes::check },
    Rule { name: "small files", check: small_files::check },
    Rule { name: "tuples", check: tuples::check },
    Rule { name: "it files", check: it_files::check },
    Rule { name: "docs", check: docs::check },
    Rule { name: "named tests", check: named_tests::check },
    Rule { name: "syntax", check: syntax::check },
    Rule { name: "unique types", check: unique_types::check },
    Rule { name: "words", check: words::check },
];

/// What breaks the rules in `repository` and is no exception; also exceptions that nothing needs.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let findings: Vec<Finding> = RULES
        .iter()
        .flat_map(|rule| (rule.check)(repository).into_iter().map(|violation| (rule.name, violation)))
        .collect();
    exceptions::except(findings, EXCEPTIONS)
}
