//! Finding protected names.

use std::fs;
use std::path::Path;

use super::*;

fn rules(root: &Path) -> NameRules {
    let mut rules = NameRules::default();
    rules.add_root(root);
    rules
}

fn found(walk: &mut Walk, root: &Path) -> Vec<String> {
    let names = walk.run(&rules(root)).names;
    names.iter().map(|name| name.path.strip_prefix(root).unwrap().display().to_string()).collect()
}

#[test]
fn names_are_found_at_every_depth_and_again_after_every_change() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let make = |path: &str| fs::create_dir_all(root.join(path)).unwrap();
    for path in [".git/.vscode", "a/b/c/d/e/f/g/.git", "a/.claude", "node_modules/x/.git", "target/x/.git"] {
        make(path);
    }
    fs::write(root.join("a/b/.mcp.json"), "{}").unwrap();
    let mut walk = Walk::default();
    let names = [".git", "a/.claude", "a/b/.mcp.json", "target/x/.git", "a/b/c/d/e/f/g/.git"];
    assert_eq!(found(&mut walk, &root), names);
    assert_eq!(found(&mut walk, &root), names);
    make("a/b/new/.vscode");
    fs::remove_dir(root.join("a/.claude")).unwrap();
    fs::write(root.join("target/CACHEDIR.TAG"), "").unwrap();
    make("target/y");
    // The directory itself says that it holds nothing but output; its parent is read again.
    make("z");
    assert_eq!(found(&mut walk, &root), [".git", "a/b/.mcp.json", "a/b/new/.vscode", "a/b/c/d/e/f/g/.git"]);
}

#[test]
fn links_are_not_followed_and_a_moved_directory_has_not_appeared() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("a/.git")).unwrap();
    std::os::unix::fs::symlink(&root, root.join("loop")).unwrap();
    let mut walk = Walk::default();
    assert_eq!(found(&mut walk, &root), ["a/.git"]);
    fs::rename(root.join("a"), root.join("b")).unwrap();
    fs::create_dir(root.join("c")).unwrap();
    assert_eq!(found(&mut walk, &root), ["b/.git"]);
    assert_eq!([walk.has_appeared(&root.join("b")), walk.has_appeared(&root.join("c"))], [false, true]);
}

#[test]
fn in_a_home_directory_every_name_with_a_dot_is_protected_and_so_are_pinned_paths() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for path in ["me/.config/x", "me/bin", "me/project/.config", "conf/rheon", "other/.config"] {
        fs::create_dir_all(root.join(path)).unwrap();
    }
    fs::write(root.join("me/.bashrc"), "").unwrap();
    let mut rules = rules(&root);
    rules.add_home(&root.join("me"));
    rules.add_pinned(&root.join("conf/rheon"));
    let names = Walk::default().run(&rules).names;
    let names: Vec<_> =
        names.iter().map(|it| it.path.strip_prefix(&root).unwrap().to_str().unwrap()).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ["conf/rheon", "me/.bashrc", "me/.config", "me/bin"]);
    assert_eq!(rules.anchors(), [root.join("conf"), root.join("me")]);
}
