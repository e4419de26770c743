//! Each crate has one integration test binary, and every file in `tests/it/` is part of it.

use std::collections::BTreeSet;

use crate::repository::{Crate, Repository, Source};
use crate::rust::mod_lines;
use crate::violation::Violation;

/// The test files that are not named, and second test binaries.
pub fn check(repository: &Repository) -> Vec<Violation> {
    repository.crates().iter().flat_map(|member| violations_in(repository, member)).collect()
}

fn violations_in(repository: &Repository, member: &Crate) -> Vec<Violation> {
    let tests = format!("{}/tests/", member.dir);
    let main = format!("{tests}it/main.rs");
    let wired = reachable(repository, &main);
    let judge = |source: &Source| {
        let inside = source.path.strip_prefix(&tests)?;
        let message = if inside.starts_with("it/") {
            let lost = !wired.contains(source.path.as_str());
            lost.then(|| format!("never runs: no chain of `mod` lines from {main} reaches it; add one"))
        } else {
            is_binary(inside)
                .then(|| format!("is a second test binary; move it to {tests}it/ and name it in main.rs"))
        };
        message.map(|message| Violation::new(&source.path, 1, message))
    };
    repository.sources_in(&tests).filter_map(judge).collect()
}

/// Whether cargo takes this path in `tests/` for a test binary.
fn is_binary(inside: &str) -> bool {
    match inside.split_once('/') {
        None => true,
        Some((_, rest)) => rest == "main.rs",
    }
}

fn reachable<'a>(repository: &'a Repository, main: &str) -> BTreeSet<&'a str> {
    let mut wired = BTreeSet::new();
    let mut open: Vec<_> = repository.source(main).into_iter().collect();
    while let Some(source) = open.pop() {
        if wired.insert(source.path.as_str()) {
            let lines = mod_lines::of(source);
            let found = lines
                .iter()
                .filter_map(|line| line.candidates.iter().find_map(|path| repository.source(path)));
            open.extend(found);
        }
    }
    wired
}
