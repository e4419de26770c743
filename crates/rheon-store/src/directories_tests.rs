//! Directories are created for their owner only, with all parents.

use std::os::unix::fs::PermissionsExt as _;

use super::{create, sync};

#[test]
fn parents_are_created_and_existing_files_stay() {
    let root = tempfile::tempdir().unwrap();
    let (outer, inner) = (root.path().join("a"), root.path().join("a/b/c"));
    create(&inner, 3).unwrap();
    std::fs::write(inner.join("file"), "here").unwrap();
    create(&inner, 3).unwrap();
    create(&outer, 0).unwrap();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&outer), mode(&inner)), (0o700, 0o700));
    assert_eq!(std::fs::read_to_string(inner.join("file")).unwrap(), "here");
}

#[test]
fn a_file_in_the_way_and_a_missing_directory_are_errors() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("a"), "").unwrap();
    assert!(create(&root.path().join("a/b"), 1).is_err());
    assert!(sync(&root.path().join("c")).is_err());
}
