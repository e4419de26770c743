//! Tests of what must not be changed.

use std::fs;

use super::Boundary;

#[cfg(target_os = "linux")]
#[test]
fn what_a_protected_name_leads_to_in_the_workspace_is_protected_too() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for path in ["repositories/one", "repositories/common", "module/.git/hooks", "settings"] {
        fs::create_dir_all(root.join(path)).unwrap();
    }
    fs::write(root.join("repositories/one/commondir"), "../common\n").unwrap();
    fs::write(root.join(".git"), "gitdir: repositories/one\n").unwrap();
    std::os::unix::fs::symlink("settings", root.join(".claude")).unwrap();
    std::os::unix::fs::symlink("/etc", root.join(".vscode")).unwrap();
    let (_command, guarded) = Boundary::new([&root]).watch().begin(&[]);
    let guarded: Vec<String> =
        guarded.iter().map(|path| path.strip_prefix(&root).unwrap().display().to_string()).collect();
    assert_eq!(
        guarded,
        ["settings", ".claude", "repositories/common", "repositories/one", ".git", ".vscode", "module/.git"]
    );
}
