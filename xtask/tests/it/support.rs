//! Small repositories as text, and what a rule says about them.

use expect_test::Expect;
use xtask::{Repository, Violation};

/// A repository of these files, and a manifest for each crate they imply.
pub(crate) fn repository(files: &[(&str, &str)]) -> Repository {
    let manifests = files.iter().filter_map(|(path, _)| {
        let mut names = path.split('/');
        match (names.next(), names.next()) {
            (Some("crates"), Some(name)) => Some((format!("crates/{name}/Cargo.toml"), Some(String::new()))),
            (Some("xtask"), Some(_)) => Some(("xtask/Cargo.toml".to_owned(), Some(String::new()))),
            _ => None,
        }
    });
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), Some((*text).to_owned())));
    Repository::new(manifests.chain(files))
}

/// Checks what the rule says about a repository of these files.
pub(crate) fn check(rule: fn(&Repository) -> Vec<Violation>, files: &[(&str, &str)], expected: Expect) {
    expected.assert_eq(&report(&rule(&repository(files))));
}

/// The violations, one per line.
pub(crate) fn report(violations: &[Violation]) -> String {
    violations.iter().map(|violation| format!("{violation}\n")).collect()
}
