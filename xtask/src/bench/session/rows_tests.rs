//! The rows of a session.

use super::*;

#[test]
fn every_row_has_a_title() {
    assert!(rows().iter().all(|row| !row.title.is_empty()));
}
