//! Tests of where command lines begin.

use std::path::{Path, PathBuf};

use rheon_policy::Workspace;
use rheon_types::ToolCallId;
use tempfile::TempDir;

use super::{Folders, JUDGED_MAX};

fn place() -> (TempDir, PathBuf, Folders) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("a/b")).unwrap();
    let folders = Folders::new(Workspace::new(&root).unwrap());
    (folder, root, folders)
}

fn id(name: &str) -> ToolCallId {
    ToolCallId::from(name)
}

#[test]
fn a_call_runs_only_in_the_folder_it_was_judged_for() {
    let (_folder, root, folders) = place();
    assert_eq!([folders.judged(&id("1")), folders.judged(&id("2"))], [root.clone(), root.clone()]);
    assert_eq!(folders.begin(&id("1")), Ok((root.clone(), None)));
    assert_eq!(folders.carry(Some(&root.join("a"))), None);
    let refused = folders.begin(&id("2")).unwrap_err();
    assert_eq!(
        (refused.kind(), refused.to_string()),
        (
            "denied",
            format!(
                "not run: the folder changed from {0} to {0}/a since this command was checked; call it again",
                root.display()
            )
        )
    );
    // Judged again it runs; and without a judgement as before.
    assert_eq!(folders.judged(&id("2")), root.join("a"));
    assert_eq!(folders.begin(&id("2")), Ok((root.join("a"), None)));
    assert_eq!(folders.begin(&id("3")), Ok((root.join("a"), None)));
}

#[test]
fn a_folder_that_went_after_the_judgement_is_another_folder() {
    let (_folder, root, folders) = place();
    folders.carry(Some(&root.join("a/b")));
    folders.judged(&id("1"));
    std::fs::remove_dir(root.join("a/b")).unwrap();
    assert_eq!(folders.begin(&id("1")).unwrap_err().kind(), "denied");
    assert_eq!(folders.judged(&id("2")), root);
    let note = format!("{0}/a/b is gone; the command began in {0}", root.display());
    assert_eq!(folders.begin(&id("2")), Ok((root.clone(), Some(note))));
    assert_eq!(folders.begin(&id("3")), Ok((root, None)));
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_folder_is_not_followed() {
    let (_folder, root, folders) = place();
    folders.carry(Some(&root.join("a")));
    folders.judged(&id("1"));
    std::fs::rename(root.join("a"), root.join("moved")).unwrap();
    std::os::unix::fs::symlink("/etc", root.join("a")).unwrap();
    assert_eq!(folders.next(), root);
    assert_eq!(folders.begin(&id("1")).unwrap_err().kind(), "denied");
}

#[test]
fn the_folder_carries_over_within_the_workspace_only() {
    let (_folder, root, folders) = place();
    for (ended_in, next) in [("a", "a"), ("a/b", "a/b"), ("a/..", ""), ("a/missing", "")] {
        folders.carry(Some(&root.join(ended_in)));
        assert_eq!(folders.next(), root.join(next).components().collect::<PathBuf>(), "{ended_in}");
    }
    folders.carry(Some(&root.join("a")));
    assert_eq!(folders.carry(None), None);
    assert_eq!(folders.next(), root.join("a"));
    let note = folders.carry(Some(Path::new("/")));
    assert_eq!(
        note,
        Some(format!("/ is outside the workspace; the next command begins in {}", root.display()))
    );
    assert_eq!(folders.next(), root);
}

#[test]
fn the_newest_judgements_are_kept() {
    let (_folder, root, folders) = place();
    for number in 0..=JUDGED_MAX {
        folders.judged(&id(&number.to_string()));
    }
    folders.carry(Some(&root.join("a")));
    assert!(folders.begin(&id("0")).is_ok(), "the oldest is forgotten");
    assert!(folders.begin(&id("1")).is_err());
    assert!(folders.begin(&id(&JUDGED_MAX.to_string())).is_err());
}

#[test]
fn a_judgement_counts_once_and_the_last_of_two_counts() {
    let (_folder, root, folders) = place();
    folders.judged(&id("1"));
    folders.carry(Some(&root.join("a")));
    folders.judged(&id("1"));
    assert_eq!(folders.begin(&id("1")), Ok((root.join("a"), None)));
    folders.carry(Some(&root));
    assert_eq!(folders.begin(&id("1")), Ok((root, None)));
}
