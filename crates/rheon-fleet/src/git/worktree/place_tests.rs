//! Which paths are in worktrees of ours.

use std::path::Path;

use super::{WorktreeLocation, sibling_directories, worktree_directories};

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
fn the_same_dir_is_found_in_every_worktree() {
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

#[test]
fn the_same_dir_is_found_in_every_working_tree_of_git() {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let write = |path: &str, text: String| {
        let path = base.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    // As `git worktree add ../other` and `git worktree add ../third` leave it.
    for name in ["other", "third"] {
        let own = base.join("main/.git/worktrees").join(name);
        write(&format!("main/.git/worktrees/{name}/gitdir"), format!("{}/{name}/.git\n", base.display()));
        write(&format!("main/.git/worktrees/{name}/commondir"), "../..\n".into());
        write(&format!("{name}/.git"), format!("gitdir: {}\n", own.display()));
    }
    // Removed by hand, and never pruned.
    write("main/.git/worktrees/gone/gitdir", format!("{}/gone/.git\n", base.display()));
    let from = |dir: &str| {
        let mut found = sibling_directories(&base.join(dir));
        found.sort();
        found
    };
    assert_eq!(from("main"), [base.join("other"), base.join("third")]);
    assert_eq!(from("other"), [base.join("main"), base.join("third")]);
    assert_eq!(from("third/a/b"), [base.join("main/a/b"), base.join("other/a/b")]);
    assert_eq!(sibling_directories(&base), Vec::<std::path::PathBuf>::new(), "no repository");
    write("odd/.git", "not a link".into());
    assert_eq!(from("odd"), Vec::<std::path::PathBuf>::new());
}
