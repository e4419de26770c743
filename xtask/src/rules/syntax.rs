//! Every source file can be parsed, or the other rules would pass over it in silence.

use crate::repository::{Repository, Source};
use crate::violation::Violation;

/// The Rust files that cannot be parsed.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let broken = |source: &Source| {
        let error = source.syntax.as_ref().err()?;
        let message = format!("cannot be parsed: {error}; correct it, no other rule has looked at it");
        Some(Violation::new(&source.path, error.span().start().line, message))
    };
    repository.sources().filter_map(broken).collect()
}
