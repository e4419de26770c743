//! Tests with real git, in every kind of sandbox this machine has.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use expect_test::expect;
use rheon_policy::Workspace;
use rheon_sandbox::process::{OutputLimits, ProcessEnvironment};
use rheon_sandbox::{Boundary, Level, NamespaceUse, Programs, Requirement, Sandbox};
use rheon_types::{Tool as _, ToolContext};
use serde_json::json;
use tempfile::TempDir;

use crate::builtin::bash::{BashSession, BashSettings, BashTool};

struct Fixture {
    dir: TempDir,
    root: PathBuf,
    session: Arc<BashSession>,
}

/// Runs git outside every sandbox.
fn git(dir: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .current_dir(dir)
        .args(arguments)
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("HOME", "/nowhere"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn new_repository(root: &Path) -> Option<()> {
    fs::create_dir_all(root).unwrap();
    git(root, &["init", "-q", "-b", "main"])?;
    for (name, value) in [("user.name", "A"), ("user.email", "a@example.com"), ("commit.gpgSign", "false")] {
        git(root, &["config", name, value])?;
    }
    fs::write(root.join("file"), "one\n").unwrap();
    git(root, &["add", "file"])?;
    git(root, &["commit", "-q", "-m", "first"])?;
    Some(())
}

async fn session(root: &Path, programs: Programs, level: Level) -> Option<Arc<BashSession>> {
    let workspace = Workspace::new(root).unwrap();
    let boundary = Boundary::new(workspace.roots());
    let requirement = Requirement::AtLeast(level);
    let sandbox = Sandbox::choose_with(programs, requirement, boundary).await.ok()?;
    let environment = ProcessEnvironment::rebuilt([], &[])
        .with("PATH", "/usr/bin:/bin")
        .with("HOME", "/nowhere")
        .with("LC_ALL", "C");
    let output = OutputLimits { head_bytes: 100_000, tail_bytes: 0, spill: None };
    Some(Arc::new(BashSession::new(BashSettings { workspace, sandbox, environment, output })))
}

/// A repository in every kind of sandbox with mount namespaces.
async fn fixtures() -> Vec<Fixture> {
    let mut fixtures = Vec::new();
    let own = Programs { bwrap: None, ..Programs::find() };
    let bubblewrap = Programs { namespaces: NamespaceUse::ProcessesOnly, ..Programs::find() };
    for (name, programs) in [("own", own), ("bubblewrap", bubblewrap)] {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("work");
        if new_repository(&root).is_some()
            && let Some(session) = session(&root, programs, Level::Namespaces).await
        {
            fixtures.push(Fixture { dir, root, session });
        } else {
            println!("not tested with namespaces of {name}");
        }
    }
    fixtures
}

async fn bash(session: &Arc<BashSession>, command: &str) -> String {
    let context = ToolContext::new("call-1", "bash").in_run("session-1", "loop-1");
    let result =
        BashTool(Arc::clone(session)).execute(Arc::new(json!({ "command": command })), context).await;
    result.map_or_else(|error| format!("{}: {error}", error.kind()), |result| result.as_text())
}

impl Fixture {
    async fn bash(&self, command: &str) -> String {
        let text = bash(&self.session, command).await;
        text.replace(&self.root.display().to_string(), "<root>")
    }

    /// The files that decide which programs git runs.
    fn settings(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut waiting: Vec<PathBuf> = ["config", "hooks", "info", "objects/info", "modules", "worktrees"]
            .iter()
            .chain(&["config.worktree", "commondir", "branches", "remotes"])
            .map(|name| self.root.join(".git").join(name))
            .collect();
        let mut found = Vec::new();
        while let Some(path) = waiting.pop() {
            waiting.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
            if path.symlink_metadata().is_ok() {
                found.push((path.clone(), fs::read(&path).ok()));
            }
        }
        found.sort();
        found
    }

    fn script(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/bash\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[tokio::test]
async fn common_git_commands_work_and_leave_config_unchanged() {
    for fixture in fixtures().await {
        let before = fixture.settings();
        for line in [
            "git checkout -q -b topic",
            "echo two > file",
            "git add -A && git commit -q -m 'second' -m \"with more\"",
            "echo three > file",
            "git stash -q",
            "git stash pop -q && git status --short",
            "git commit -q -a -m third",
            "git switch -q main",
            "git merge -q --no-edit topic",
            "git tag v1 && git branch other",
            "git reset -q --hard HEAD~1",
            "git cherry-pick topic",
            "git revert --no-edit HEAD",
            "git mv file moved && git commit -q -m moved",
            "git checkout -q -b older HEAD~2 && git commit -q --allow-empty -m aside",
            "git rebase -q main",
            "git restore --staged . && git rm -q moved && git commit -q -m removed",
            "git branch -D other && git gc -q || true",
        ] {
            let output = fixture.bash(line).await;
            assert_eq!(output.lines().last(), Some("exit code 0"), "{line}: {output}");
        }
        assert_eq!(
            git(&fixture.root, &["log", "--format=%s", "older"]).unwrap(),
            "removed\naside\nmoved\nRevert \"third\"\nthird\nsecond\nfirst"
        );
        assert_eq!(git(&fixture.root, &["status", "--short"]).unwrap(), "");
        assert_eq!(git(&fixture.root, &["fsck", "--strict", "--no-dangling"]).unwrap(), "");
        assert_eq!(fixture.settings(), before);
    }
}

#[tokio::test]
async fn git_config_and_hooks_stay_closed_to_programs_that_git_runs() {
    let attack = r#"
        cd "$(git rev-parse --show-toplevel)"
        echo ran > ran
        for name in config config.worktree commondir hooks/post-commit info/attributes objects/info/alternates \
            modules/sub/config worktrees/x/commondir remotes/origin branches/origin; do
            mkdir -p ".git/${name%/*}"; echo evil > ".git/$name"; echo evil > new; mv -f new ".git/$name"
            ln -sf "$PWD/evil" ".git/$name"; rm -rf ".git/$name"
        done
        mv .git/hooks .git/old; mv .git/info .git/old; mv .git/objects .git/old; mv .git/refs .git/old; mv .git old
        git config core.hooksPath evil; git config --worktree core.fsmonitor evil
        chmod 777 .git/config .git/hooks
        mount -o remount,rw .git/config; umount .git/config .git/hooks
        exit 0"#;
    for fixture in fixtures().await {
        fixture.script(".git/hooks/pre-commit", attack);
        let before = fixture.settings();
        let output = fixture.bash("echo two > file").await + &fixture.bash("git commit -q -a -m two").await;
        assert_eq!(fs::read_to_string(fixture.root.join("ran")).unwrap(), "ran\n", "{output}");
        assert_eq!(fixture.settings(), before, "{output}");
        assert_eq!(git(&fixture.root, &["log", "-1", "--format=%s"]).unwrap(), "two", "{output}");
        assert_eq!(git(&fixture.root, &["config", "--get", "core.hooksPath"]).unwrap(), "");
    }
}

#[tokio::test]
async fn files_that_cannot_be_protected_are_repaired_afterwards() {
    let attack = r#"
        cd "$(git rev-parse --show-toplevel)"
        rm -rf .git/COMMIT_EDITMSG .git/logs/HEAD
        ln -s "$PWD/../outside" .git/ORIG_HEAD
        ln -s "$PWD/../outside" .git/logs/HEAD
        mkdir .git/rebase-merge
        printf 'pick 1\nexec evil\n\tx evil\n' > .git/rebase-merge/git-rebase-todo
        echo evil > .git/HEAD
        exit 1"#;
    for fixture in fixtures().await {
        fixture.script(".git/hooks/pre-commit", attack);
        fixture.bash("git commit -q --allow-empty -m two").await;
        assert_eq!(git(&fixture.root, &["log", "-1", "--format=%s %D"]).unwrap(), "first HEAD -> main");
        for name in ["ORIG_HEAD", "logs/HEAD"] {
            assert!(fixture.root.join(".git").join(name).symlink_metadata().is_err(), "{name}");
        }
        let steps = fs::read_to_string(fixture.root.join(".git/rebase-merge/git-rebase-todo")).unwrap();
        assert_eq!(steps, "pick 1\n# exec evil\n# \tx evil\n");
    }
}

#[tokio::test]
async fn commands_beyond_plain_git_are_read_only_with_advice() {
    for fixture in fixtures().await {
        let before = fixture.settings();
        for line in [
            "git commit -q --allow-empty -m \"$(echo x > .git/hooks/pre-commit; echo two)\"",
            "git config core.hooksPath x",
            "git -c core.hooksPath=x commit -q --allow-empty -m two",
            "GIT_AUTHOR_NAME=x git commit -q --allow-empty -m two",
            "git commit -q --allow-empty -m two > log",
            "bash -c 'git commit -q --allow-empty -m two'",
        ] {
            let output = fixture.bash(line).await;
            assert!(
                output.contains("[`.git` was read-only for this command: it is writable"),
                "{line}: {output}"
            );
        }
        assert_eq!(fixture.settings(), before);
        assert_eq!(git(&fixture.root, &["log", "--format=%s"]).unwrap(), "first");
        expect![[r#"
            error: could not lock config file .git/config: Read-only file system
            [`.git` was read-only for this command: it is writable only for plain git commands (add, commit, checkout, switch, branch, stash, merge, rebase, tag, reset, restore, rm, mv, cherry-pick, revert, ...) and read-only commands. Run git again on its own line, not in the background, with every word spelled out: no `$(...)`, variables, unquoted patterns, `-c`, aliases or output to files; use several `-m` for a long message. `git config`, hooks, submodules and worktrees stay closed: tell the user what to run.]
            exit code 255"#]]
        .assert_eq(&fixture.bash("git config core.hooksPath x").await);
    }
}

#[tokio::test]
async fn advice_names_git_config_that_stays_closed() {
    for fixture in fixtures().await {
        let output = fixture.bash("git branch topic && git branch -u main topic").await;
        assert!(output.contains("[Repository config and hooks"), "{output}");
        assert_eq!(git(&fixture.root, &["branch", "--format=%(refname:short)"]).unwrap(), "main\ntopic");
    }
}

#[tokio::test]
async fn a_linked_worktree_explains_why_git_is_closed() {
    for fixture in fixtures().await {
        let linked = fixture.dir.path().canonicalize().unwrap().join("linked");
        git(&fixture.root, &["worktree", "add", "-q", linked.to_str().unwrap()]).unwrap();
        let Some(session) = session(&linked, Programs::find(), Level::Namespaces).await else { continue };
        let output = bash(&session, "git commit -q --allow-empty -m two").await;
        let output = output.lines().rev().take(2).collect::<Vec<_>>().join("\n");
        expect![[r#"
            exit code 128
            [Cannot open the repository: <linked>/.git points to a repository elsewhere (this is a linked worktree or a submodule), which is read-only. Do not look for a way around it; tell the user what to run, or to start Rheon in the main repository.]"#]]
        .assert_eq(&output.replace(&linked.display().to_string(), "<linked>"));
    }
}

#[tokio::test]
async fn unusual_repositories_stay_closed() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 5] = [
        ("contains symlinks", |git| symlink("../file", git.join("ORIG_HEAD")).unwrap()),
        ("is not of the type that git creates", |git| {
            fs::write(git.join("commondir"), "../elsewhere\n").unwrap()
        }),
        ("is not of the type that git creates", |git| {
            fs::rename(git.join("hooks"), git.join("old")).unwrap();
            symlink("old", git.join("hooks")).unwrap();
        }),
        ("no valid HEAD", |git| fs::write(git.join("HEAD"), "nothing").unwrap()),
        ("is not a repository", |git| {
            fs::rename(git.join("refs"), git.join("old")).unwrap();
        }),
    ];
    for (problem, change) in changes {
        for fixture in fixtures().await {
            change(&fixture.root.join(".git"));
            let before = fixture.settings();
            let Err(output) = fixture.session.sandbox().git_launcher().map(drop) else { panic!("{problem}") };
            assert!(output.contains(problem), "{output}");
            assert_eq!(fixture.settings(), before);
        }
    }
}

#[tokio::test]
async fn without_namespaces_the_repository_is_not_protected() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("work");
    let programs = Programs { bwrap: None, namespaces: NamespaceUse::ProcessesOnly, ..Programs::find() };
    if new_repository(&root).is_none() {
        return;
    }
    let Some(session) = session(&root, programs, Level::Landlock).await else { return };
    assert_eq!(session.sandbox().level(), Level::Landlock);
    assert_eq!(bash(&session, "git commit -q --allow-empty -m two").await, "exit code 0");
    assert_eq!(git(&root, &["log", "-1", "--format=%s"]).unwrap(), "two");
}
