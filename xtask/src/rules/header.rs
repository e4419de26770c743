//! Every source file opens with a `//!` line that says what it owns.

use crate::repository::Repository;
use crate::violation::Violation;

/// The files whose first line is something else, or says nothing.
pub fn check(repository: &Repository) -> Vec<Violation> {
    repository
        .sources()
        .filter(|source| !has_header(&source.text))
        .map(|source| {
            Violation::new(&source.path, 1, "does not open with a `//!` line; say in one what the file owns")
        })
        .collect()
}

fn has_header(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty());
    first.and_then(|line| line.strip_prefix("//!")).is_some_and(|words| !words.trim().is_empty())
}
