//! The rules on this repository: the test that keeps the house in shape.

use xtask::{check, walk};

#[test]
fn this_repository_follows_its_rules() {
    let repository = walk::read(&walk::root()).unwrap();
    assert!(repository.sources().count() > 0, "found no source files: the walk is broken");
    let violations: Vec<_> = check(&repository).iter().map(ToString::to_string).collect();
    assert!(violations.is_empty(), "{} violations:\n{}", violations.len(), violations.join("\n"));
}
