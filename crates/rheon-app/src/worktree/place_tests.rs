//! Which paths are in worktrees of ours.

use std::path::Path;

use super::Place;

fn place(path: &str) -> Option<(String, String, String)> {
    let place = Place::of(Path::new(path))?;
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
