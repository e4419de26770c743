//! Tests of what must not be changed.

use std::fs;

use super::{Boundary, ProtectedPath};

#[test]
fn protected_names_are_found_present_missing_nested_and_behind_a_git_file() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for path in ["repositories/one", "module/.git/hooks", "a/b/c/d/e/.git", "node_modules/x/.git", ".claude"]
    {
        fs::create_dir_all(root.join(path)).unwrap();
    }
    fs::create_dir(root.join("repositories/common")).unwrap();
    fs::write(root.join("repositories/one/commondir"), "../common\n").unwrap();
    fs::write(root.join(".git"), "gitdir: repositories/one\n").unwrap();
    let boundary = Boundary::new([&root]);
    let present = |path: &str| ProtectedPath::Present(root.join(path));
    let missing = |path: &str| ProtectedPath::Missing(root.join(path));
    assert_eq!(
        boundary.protected(),
        [
            present("repositories/one"),
            present("repositories/common"),
            present(".git"),
            missing(".rheon"),
            present(".claude"),
            missing(".agent"),
            missing(".agents"),
            missing(".codex"),
            missing(".cursor"),
            missing(".gemini"),
            missing(".husky"),
            missing(".idea"),
            missing(".mcp.json"),
            missing(".vscode"),
            present("module/.git"),
        ]
    );
}

#[cfg(unix)]
#[test]
fn a_protected_name_that_is_a_link_protects_what_it_leads_to() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("settings")).unwrap();
    std::os::unix::fs::symlink("settings", root.join(".claude")).unwrap();
    std::os::unix::fs::symlink("/etc", root.join(".vscode")).unwrap();
    let protected = Boundary::new([&root]).protected();
    assert!(protected.contains(&ProtectedPath::Present(root.join("settings"))), "{protected:?}");
    assert_eq!(protected.len(), 11, "{protected:?}");
}
