//! No document names a test that does not exist.

use super::docs::{documents, words_in_code};
use crate::repository::Repository;
use crate::violation::Violation;

/// The words of the form `file.rs::function` in documents for which no such file has such a function.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let judge = |(document, text)| {
        let missing = |(word, line): (String, usize)| {
            let (file, function) = word.split_once("::")?;
            let is_test = file.ends_with(".rs") && !exists(repository, file, function);
            let message =
                format!("names the test {word}, which does not exist; correct the name or remove it");
            is_test.then(|| Violation::new(document, line, message).about(&word))
        };
        words_in_code(text).filter_map(missing).collect::<Vec<_>>()
    };
    documents(repository).flat_map(judge).collect()
}

fn exists(repository: &Repository, file: &str, function: &str) -> bool {
    let (name, definition) = (format!("/{file}"), format!("fn {function}("));
    repository.sources().any(|source| source.path.ends_with(&name) && source.text.contains(&definition))
}
