//! Tests of the table of contents.

use std::path::Path;

use super::{PARTS, files_in};

#[test]
fn every_page_of_docs_is_in_the_book() {
    let pages: Vec<&str> = PARTS.iter().flat_map(|part| part.pages).map(|(_, file)| *file).collect();
    let files = files_in(&xtask::walk::root(), "docs").unwrap_or_default();
    let is_page = |file: &&std::path::PathBuf| file.extension().is_some_and(|end| end == "md");
    let missing: Vec<_> = files
        .iter()
        .filter(is_page)
        .filter(|file| !pages.iter().any(|page| Path::new(page) == *file))
        .collect();
    assert_eq!(missing, Vec::<&std::path::PathBuf>::new());
    assert!(files.len() > 10);
}
