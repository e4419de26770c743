//! The rows of the program.

use super::*;

#[test]
fn every_row_has_a_title() {
    assert!(rows(&["claude"]).iter().all(|row| !row.title.is_empty()));
}

#[test]
fn another_build_is_compared_without_the_aims_beside_other_agents() {
    let rows = beside("reference");
    assert!(!rows.iter().any(|row| matches!(row.aim, Some(Aim::TimesAtMost(_) | Aim::TimesAtLeast(_)))));
    let binary = rows.last().unwrap();
    assert_eq!(
        (binary.title.as_str(), binary.references.first().unwrap().0),
        ("size of the program", "reference")
    );
}
