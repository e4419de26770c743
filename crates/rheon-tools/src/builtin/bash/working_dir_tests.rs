//! Tests of the directory in which commands start.

use std::path::{Path, PathBuf};

use rheon_policy::Workspace;
use tempfile::TempDir;

use super::WorkingDir;

fn fixture() -> (TempDir, PathBuf, WorkingDir) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("a/b")).unwrap();
    let working_dir = WorkingDir::new(Workspace::new(&root).unwrap());
    (dir, root, working_dir)
}

#[test]
fn a_call_runs_only_in_the_directory_it_was_checked_for() {
    let (_dir, root, working_dir) = fixture();
    assert_eq!(working_dir.start(Some(&root)), Ok((root.clone(), None)));
    assert_eq!(working_dir.finish_in(Some(&root.join("a"))), None);
    let refused = working_dir.start(Some(&root)).unwrap_err();
    assert_eq!(
        (refused.kind(), refused.to_string()),
        (
            "denied",
            format!(
                "not run: the working directory changed from {0} to {0}/a since this command was checked; call it again",
                root.display()
            )
        )
    );
    // Checked again it runs, and without a check it runs as before.
    assert_eq!(working_dir.start(Some(&root.join("a"))), Ok((root.join("a"), None)));
    assert_eq!(working_dir.start(None), Ok((root.join("a"), None)));
}

#[test]
fn a_directory_removed_after_the_check_is_denied() {
    let (_dir, root, working_dir) = fixture();
    working_dir.finish_in(Some(&root.join("a/b")));
    let checked = working_dir.next().current();
    std::fs::remove_dir(root.join("a/b")).unwrap();
    assert_eq!(working_dir.start(Some(&checked)).unwrap_err().kind(), "denied");
    assert_eq!(working_dir.next().current(), root);
    let note = format!("{0}/a/b no longer exists; the command started in {0}", root.display());
    assert_eq!(working_dir.start(Some(&root)), Ok((root.clone(), Some(note))));
    assert_eq!(working_dir.start(None), Ok((root, None)));
}

#[cfg(unix)]
#[test]
fn a_link_that_replaced_the_directory_is_not_followed() {
    let (_dir, root, working_dir) = fixture();
    working_dir.finish_in(Some(&root.join("a")));
    let checked = working_dir.next().current();
    std::fs::rename(root.join("a"), root.join("moved")).unwrap();
    std::os::unix::fs::symlink("/etc", root.join("a")).unwrap();
    assert_eq!(working_dir.next().current(), root);
    assert_eq!(working_dir.start(Some(&checked)).unwrap_err().kind(), "denied");
}

#[test]
fn the_directory_carries_over_only_within_the_workspace() {
    let (_dir, root, working_dir) = fixture();
    for (ended_in, next) in [("a", "a"), ("a/b", "a/b"), ("a/..", ""), ("a/missing", "")] {
        working_dir.finish_in(Some(&root.join(ended_in)));
        assert_eq!(
            working_dir.next().current(),
            root.join(next).components().collect::<PathBuf>(),
            "{ended_in}"
        );
    }
    working_dir.finish_in(Some(&root.join("a")));
    assert_eq!(working_dir.finish_in(None), None);
    assert_eq!(working_dir.next().current(), root.join("a"));
    let note = working_dir.finish_in(Some(Path::new("/")));
    assert_eq!(
        note,
        Some(format!("/ is outside the workspace; the next command starts in {}", root.display()))
    );
    assert_eq!(working_dir.next().current(), root);
}
