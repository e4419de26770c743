//! Tests of protected names against real commands.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::tests::{Place, entries, place, place_of, place_with, with_bubblewrap};
use super::{Boundary, Level, Programs, Requirement, Sandbox};

#[tokio::test]
async fn protected_names_cannot_be_changed_or_moved_and_new_ones_do_not_stay() {
    let aside = |boundary: Boundary, outside: &Path| boundary.with_quarantine(&outside.join("quarantine"));
    for programs in [Programs::find(), with_bubblewrap()] {
        let Some(place) = place_of((Level::Namespaces, programs), aside).await else { continue };
        fs::create_dir_all(place.root.join("a/b/c/d/e/f/.claude")).unwrap();
        let attempts = "
            echo x > .git/config; echo x > .git/hooks/pre-commit; rm -rf .git; mv .git gone; ln -sf /etc .git/link
            mkdir evil; echo x > evil/config; mv -T evil .git; ln -s evil .vscode; mv -T evil .vscode
            echo x > .mcp.json; echo {} > other.json; mv -T other.json .mcp.json; ln -f other.json .mcp.json
            mkdir .agents; mkdir .agents/x; mkdir -p a/b/.husky a/b/c/d/e/f/.claude/x a/b/c/d/e/f/.idea
            umount .git; mount -o remount,rw .git; chmod 777 .git/config; ls -A
        ";
        let (_, output) = place.run(attempts).await;
        assert_eq!(entries(&place.root), [".git", "a", "evil"], "{output}");
        assert_eq!(entries(&place.root.join("a/b")), ["c"], "{output}");
        assert_eq!(entries(&place.root.join("a/b/c/d/e/f")), [".claude"], "{output}");
        assert_eq!(entries(&place.root.join("a/b/c/d/e/f/.claude")), [""; 0], "{output}");
        assert_eq!(fs::read_to_string(place.root.join(".git/config")).unwrap(), "[core]\n");
        assert_eq!(fs::read_dir(place.root.join(".git/hooks")).unwrap().count(), 0);
        let quarantined = entries(&place.outside.join("quarantine"));
        assert_eq!(quarantined.iter().filter(|name| !name.starts_with('.')).count(), 5, "{output}");
    }
}

#[tokio::test]
async fn while_a_command_runs_the_workspace_has_nothing_that_the_user_did_not_create() {
    let Some(place) = place(Level::Namespaces).await else { return };
    let before = entries(&place.root);
    let mut during = Vec::new();
    place.run_until("echo ready", |_| during = entries(&place.root), CancellationToken::new()).await;
    assert_eq!((during, entries(&place.root)), (before.clone(), before));
}

#[tokio::test]
async fn a_protected_name_that_is_a_link_cannot_be_replaced() {
    let Some(place) = place(Level::Namespaces).await else { return };
    fs::create_dir(place.root.join("sub")).unwrap();
    fs::rename(place.root.join(".git"), place.root.join("sub/real")).unwrap();
    std::os::unix::fs::symlink("sub/real", place.root.join(".git")).unwrap();
    std::os::unix::fs::symlink("nowhere", place.root.join("sub/.vscode")).unwrap();
    let attempts = "rm -f .git sub/.vscode; mv .git x; mv -T sub .git; mkdir -p .git/hooks; ln -sfn /etc .git; \
        echo x > .git/config; echo x > sub/real/config; echo x > .git/hooks/pre-commit; mkdir evil; mv -T evil .git; ls -A";
    let (_, output) = place.run(attempts).await;
    assert_eq!(fs::read_link(place.root.join(".git")).unwrap(), Path::new("sub/real"), "{output}");
    assert_eq!(fs::read_link(place.root.join("sub/.vscode")).unwrap(), Path::new("nowhere"), "{output}");
    assert_eq!(fs::read_to_string(place.root.join(".git/config")).unwrap(), "[core]\n", "{output}");
    assert_eq!(fs::read_dir(place.root.join(".git/hooks")).unwrap().count(), 0, "{output}");
}

#[tokio::test]
async fn a_name_that_is_removed_on_the_machine_while_a_command_runs_does_not_open() {
    let aside = |boundary: Boundary, outside: &Path| boundary.with_quarantine(&outside.join("quarantine"));
    let Some(place) = place_with(Level::Namespaces, aside).await else { return };
    fs::create_dir(place.root.join(".vscode")).unwrap();
    let removed = place.root.join(".vscode");
    let (_, output) = place
        .run_until(
            "echo ready; until mkdir .vscode 2>/dev/null; do :; done; echo x > .vscode/tasks.json; cat .vscode/tasks.json",
            move |_| drop(fs::remove_dir(&removed)),
            CancellationToken::new(),
        )
        .await;
    assert_eq!(output, "ready\nx\n");
    assert_eq!(entries(&place.root), [".git"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_in_one_workspace_do_not_hinder_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("a/.git/hooks")).unwrap();
    let mut sessions = Vec::new();
    for number in 0..8 {
        let boundary = Boundary::new([&root]).with_quarantine(&root.with_extension("quarantine"));
        let Ok(sandbox) = Sandbox::choose(Requirement::AtLeast(Level::Namespaces), boundary).await else {
            return;
        };
        let (_dir, place_root) = (tempfile::tempdir().unwrap(), root.clone());
        let place = Place { _dir, root: place_root, outside: PathBuf::new(), sandbox };
        sessions.push(tokio::spawn(async move {
            let mut failures = Vec::new();
            for round in 0..50 {
                let text = format!("mkdir -p .vscode; echo {round} > file-{number}; cat file-{number}");
                let (outcome, output) = place.run(&text).await;
                if outcome.exit_code != Some(0) || output != format!("{round}\n") {
                    failures.push(output);
                }
            }
            failures
        }));
    }
    for session in sessions {
        assert_eq!(session.await.unwrap(), Vec::<String>::new());
    }
    assert!(!root.join(".vscode").exists());
    fs::remove_dir_all(root.with_extension("quarantine")).unwrap();
}

#[tokio::test]
async fn a_workspace_with_the_home_directory_cannot_change_settings_of_programs_or_their_parents() {
    for is_above in [false, true] {
        let Ok(dir) = tempfile::tempdir_in("/var") else { return };
        let top = dir.path().canonicalize().unwrap();
        let home = top.join("me");
        for path in
            [".config/rheon", ".config/systemd/user", ".local/state/rheon", "bin", "project", "elsewhere"]
        {
            fs::create_dir_all(home.join(path)).unwrap();
        }
        for path in [
            ".bashrc",
            ".gitconfig",
            ".config/rheon/config.toml",
            ".local/state/rheon/trust.json",
            "elsewhere/zshrc",
        ] {
            fs::write(home.join(path), "mine").unwrap();
        }
        std::os::unix::fs::symlink("elsewhere/zshrc", home.join(".zshrc")).unwrap();
        let root = if is_above { top.clone() } else { home.clone() };
        let quarantine = home.join(".local/state/rheon/quarantine");
        let boundary = Boundary::new([&root])
            .with_home(&home)
            .with_pinned(&home.join("conf/rheon"))
            .with_quarantine(&quarantine);
        let required = Requirement::AtLeast(Level::Namespaces);
        let Ok(sandbox) = Sandbox::choose(required, boundary).await else { return };
        let place = Place { outside: PathBuf::new(), root: root.clone(), sandbox, _dir: dir };
        let attempts = format!(
            "cd {}; for it in .config .local .bashrc .gitconfig .zshrc bin elsewhere; do mv $it gone-$it; done
            echo evil > .config/rheon/config.toml; echo evil >> .bashrc; rm -f .gitconfig; echo evil > .gitconfig
            echo evil > .profile; ln -s project .zshenv; mkdir -p .ssh; echo evil > .ssh/rc; echo evil > bin/ls
            echo evil > elsewhere/zshrc; mkdir -p conf/rheon; echo evil > conf/rheon/config.toml
            echo work > project/file; echo work > file; cd /; mv {} {}-gone",
            home.display(),
            home.display(),
            home.display()
        );
        let (_, output) = place.run(&attempts).await;
        for path in
            [".bashrc", ".gitconfig", ".config/rheon/config.toml", ".local/state/rheon/trust.json", ".zshrc"]
        {
            assert_eq!(fs::read_to_string(home.join(path)).unwrap(), "mine", "{path}: {output}");
        }
        let expected = [
            ".bashrc",
            ".config",
            ".gitconfig",
            ".local",
            ".zshrc",
            "bin",
            "conf",
            "elsewhere",
            "file",
            "project",
        ];
        assert_eq!(entries(&home), expected, "{output}");
        assert_eq!((entries(&home.join("bin")), entries(&home.join("conf"))), (vec![], vec![]), "{output}");
        assert_eq!(fs::read_to_string(home.join("project/file")).unwrap(), "work\n", "{output}");
    }
}
