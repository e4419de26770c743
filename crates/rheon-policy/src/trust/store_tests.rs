//! What the user has agreed to, and what becomes of it when content changes.

use std::path::Path;
use std::sync::Barrier;

use expect_test::expect;
use tempfile::TempDir;

use crate::trust::{ProjectContent, TrustStatus, TrustStore};

fn write(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn gather(root: &TempDir) -> ProjectContent {
    ProjectContent::gather(root.path()).unwrap()
}

#[test]
fn the_user_is_asked_at_first_and_again_after_every_change() {
    let (root, state) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let store = TrustStore::open(state.path().join("deep/trust.json")).unwrap();
    let mut rows = Vec::new();
    let mut ask = |store: &TrustStore| rows.push(store.check(&gather(&root)).unwrap().to_string());
    ask(&store);
    write(root.path(), ".claude/hooks/a.sh", "exit 0");
    write(root.path(), ".claude/hooks/odd\u{1b}[2J\n.sh", "exit 0");
    write(root.path(), ".mcp.json", "{}");
    ask(&store);
    store.grant(&gather(&root)).unwrap();
    ask(&store);
    // Another process sees it too.
    ask(&TrustStore::open(state.path().join("deep/trust.json")).unwrap());
    write(root.path(), ".claude/hooks/a.sh", "exit 1");
    write(root.path(), ".claude/hooks/b.sh", "");
    std::fs::remove_file(root.path().join(".mcp.json")).unwrap();
    ask(&store);
    store.grant(&gather(&root)).unwrap();
    ask(&store);
    store.revoke(root.path()).unwrap();
    ask(&store);
    expect![[r#"
        This project contains nothing that needs trust.

        This project contains files that can run commands or instruct the agent:
          c9b7c3a222e5 .claude/hooks/a.sh
          658b99cc99dc .claude/hooks/odd\u{1b}[2J\n.sh
          8df77faa0e7b .mcp.json
        Do you trust them?

        You trust this project.

        You trust this project.

        This project has changed since you trusted it:
          changed 3cd96623f3c5 .claude/hooks/a.sh
          new     7e0b5643e371 .claude/hooks/b.sh
          gone    .mcp.json
        Do you trust these changes?

        You trust this project.

        This project contains files that can run commands or instruct the agent:
          3cd96623f3c5 .claude/hooks/a.sh
          7e0b5643e371 .claude/hooks/b.sh
          658b99cc99dc .claude/hooks/odd\u{1b}[2J\n.sh
        Do you trust them?"#]]
    .assert_eq(&rows.join("\n\n"));
}

#[test]
fn the_same_content_in_another_dir_is_not_trusted() {
    let (root, other, state) = (TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap());
    for dir in [&root, &other] {
        write(dir.path(), ".mcp.json", "{}");
    }
    let store = TrustStore::open(state.path().join("trust.json")).unwrap();
    store.grant(&gather(&root)).unwrap();
    assert_eq!(store.check(&gather(&root)).unwrap(), TrustStatus::Trusted);
    assert!(matches!(store.check(&gather(&other)).unwrap(), TrustStatus::Unknown { .. }));
}

#[test]
fn many_at_once_lose_nothing() {
    let state = TempDir::new().unwrap();
    let file = state.path().join("trust.json");
    let roots: Vec<TempDir> = (0..8).map(|_| TempDir::new().unwrap()).collect();
    let barrier = Barrier::new(roots.len());
    std::thread::scope(|scope| {
        for root in &roots {
            write(root.path(), ".mcp.json", "{}");
            scope.spawn(|| {
                let store = TrustStore::open(&file).unwrap();
                let content = gather(root);
                barrier.wait();
                store.grant(&content).unwrap();
            });
        }
    });
    let store = TrustStore::open(&file).unwrap();
    assert!(roots.iter().all(|root| store.check(&gather(root)).unwrap() == TrustStatus::Trusted));
}

#[test]
fn a_file_that_cannot_be_understood_trusts_nothing_and_is_not_overwritten() {
    let (root, state) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    write(root.path(), ".mcp.json", "{}");
    let file = state.path().join("trust.json");
    let store = TrustStore::open(&file).unwrap();
    let mut rows = String::new();
    for text in [
        "",
        "{",
        "{\"version\":2,\"projects\":[]}",
        "{\"version\":1}",
        "{\"version\":1,\"projects\":{},\"x\":1}",
    ] {
        std::fs::write(&file, text).unwrap();
        let error = store.check(&gather(&root)).unwrap_err().to_string();
        rows += &error.replace(state.path().to_str().unwrap(), "STATE");
        rows.push('\n');
        assert!(store.grant(&gather(&root)).is_err() && TrustStore::open(&file).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
    expect![[r#"
        cannot read trusted projects from "STATE/trust.json": EOF while parsing a value at line 1 column 0; delete the file to reset trust
        cannot read trusted projects from "STATE/trust.json": EOF while parsing an object at line 1 column 1; delete the file to reset trust
        cannot read trusted projects from "STATE/trust.json": it has version 2, but this program supports version 1; delete the file to reset trust
        cannot read trusted projects from "STATE/trust.json": missing field `projects` at line 1 column 13; delete the file to reset trust
        cannot read trusted projects from "STATE/trust.json": unknown field `x`, expected one of `version`, `projects`, `answers` at line 1 column 30; delete the file to reset trust
    "#]].assert_eq(&rows);
}

#[cfg(unix)]
#[test]
fn only_the_user_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let (root, state) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let file = state.path().join("trust.json");
    TrustStore::open(&file).unwrap().grant(&gather(&root)).unwrap();
    assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn a_store_that_others_may_have_written_or_that_is_no_file_is_not_believed() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let (root, state) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    write(root.path(), ".mcp.json", "{}");
    let file = state.path().join("trust.json");
    let store = TrustStore::open(&file).unwrap();
    store.grant(&gather(&root)).unwrap();
    assert_eq!(store.check(&gather(&root)).unwrap(), TrustStatus::Trusted);
    assert_eq!(
        std::fs::metadata(state.path().join("trust.json.lock")).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let text = std::fs::read_to_string(&file).unwrap();
    let said = |store: &TrustStore| store.check(&gather(&root)).map(|trust| trust.to_string());
    let mut rows = Vec::new();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    rows.push(said(&store).unwrap_err().to_string());
    std::fs::remove_file(&file).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, 0o600.into()).unwrap();
    rows.push(said(&store).unwrap_err().to_string());
    std::fs::remove_file(&file).unwrap();
    symlink("/dev/zero", &file).unwrap();
    rows.push(said(&store).unwrap_err().to_string());
    std::fs::remove_file(&file).unwrap();
    // Written in part, as by a program that does not put files in place in one step.
    for end in [0, 1, text.len() / 2, text.len() - 3] {
        std::fs::write(&file, text.get(..end).unwrap()).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(said(&store).is_err(), "{end}");
        assert!(store.grant(&gather(&root)).is_err(), "{end}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text.get(..end).unwrap());
    }
    expect![[r#"
        cannot read trusted projects from "STATE/trust.json": every user can write to it; delete the file to reset trust
        cannot read trusted projects from "STATE/trust.json": it is not a regular file; delete the file to reset trust
        cannot read trusted projects from "STATE/trust.json": it is not a regular file; delete the file to reset trust"#]].assert_eq(&rows.join("\n").replace(state.path().to_str().unwrap(), "STATE"));
}

/// Run by the test below in a process of its own, in a directory with a project and, above it, the store.
#[test]
#[ignore = "it is a part of another test"]
fn trust_the_dir_again_and_again() {
    let project = std::env::current_dir().unwrap();
    let store = TrustStore::open(project.parent().unwrap().join("trust.json")).unwrap();
    let content = ProjectContent::gather(&project).unwrap();
    std::fs::write("begun", "").unwrap();
    loop {
        store.grant(&content).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn processes_that_are_killed_while_they_write_leave_the_store_whole_and_unlocked() {
    let base = TempDir::new().unwrap();
    for round in 0..6 {
        let projects = [0, 1].map(|side| base.path().join(format!("{round}-{side}")));
        let mut children = projects.each_ref().map(|project| {
            write(project, ".mcp.json", "{}");
            std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "--ignored", "trust::store_tests::trust_the_dir_again_and_again"])
                .current_dir(project)
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        });
        let store = TrustStore::open(base.path().join("trust.json")).unwrap();
        let is_trusted = |project: &std::path::PathBuf| {
            let content = ProjectContent::gather(project).unwrap();
            store.check(&content).unwrap() == TrustStatus::Trusted
        };
        while !projects.iter().all(is_trusted) {
            assert!(children.iter_mut().all(|child| child.try_wait().unwrap().is_none()));
        }
        for mut child in children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(projects.iter().all(is_trusted));
        // Nobody holds the lock any more.
        store.revoke(&projects[0]).unwrap();
    }
}
