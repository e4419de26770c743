//! Which paths are in worktrees of ours.

use std::path::Path;

use super::{WorktreeLocation, worktree_directories};

fn place(path: &str) -> Option<(String, String, String)> {
    let place = WorktreeLocation::of(Path::new(path))?;
    let text = |path: &Path| path.display().to_string();
    Some((text(&place.root), place.name.to_string(), text(&place.within)))
}

#[test]
fn a_path_tells_the_repository_the_name_and_the_rest() {
    let expected = |root: &str, name: &str, within: &str| Some((root.into(), name.into(), within.into()));
    assert_eq!(place("/r/.rheon/worktrees/x"), expected("/r", "x", ""));
    assert_eq!(place("/r/.rheon/worktrees/x/a/b"), expected("/r", "x", "a/b"));
    assert_eq!(place("/r/.rheon/worktrees/x/.rheon/worktrees/y"), expected("/r/.rheon/worktrees/x", "y", ""));
}

#[test]
fn other_paths_are_in_none() {
    for path in ["/", "", "/r", "/r/.rheon/worktrees", "/r/worktrees/x", "/r/.rheon/worktrees/.x/y"] {
        assert_eq!(place(path), None, "{path}");
    }
}

#[test]
fn the_same_folder_is_found_in_every_worktree() {
    let repository = tempfile::tempdir().unwrap();
    let root = repository.path();
    std::fs::create_dir_all(root.join("a/b")).unwrap();
    assert_eq!(worktree_directories(&root.join("a")), None, "no repository");
    std::fs::create_dir(root.join(".git")).unwrap();
    assert_eq!(worktree_directories(&root.join("a")), None, "no worktrees");
    std::fs::create_dir_all(root.join(".rheon/worktrees/x")).unwrap();
    let expected = |own: &str, there: &str| Some(vec![root.join(own), root.join(there)]);
    assert_eq!(worktree_directories(&root.join("a/b")), expected("a/b", ".rheon/worktrees/x/a/b"));
    assert_eq!(worktree_directories(root), Some(vec![root.to_owned(), root.join(".rheon/worktrees/x")]));
}
