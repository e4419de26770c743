//! The state of real repositories, and of what only looks like one.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use expect_test::expect;
use tempfile::TempDir;

use super::{GitEnvironment, GitOutput, GitQuestion, GitState, read};

/// For machines that have much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// The variables of a user without settings.
fn environment(home: &Path) -> GitEnvironment {
    GitEnvironment { path: std::env::var_os("PATH"), home: Some(home.into()), config_home: None }
}

fn git(dir: &Path, arguments: &[&str]) {
    let ran = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(dir)
        .env("HOME", dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

fn repository() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "--quiet", "--initial-branch=main"]);
    fs::write(dir.path().join("kept.txt"), "1").unwrap();
    fs::write(dir.path().join("old name.txt"), "2 and more to be known by").unwrap();
    git(dir.path(), &["add", "."]);
    git(dir.path(), &["commit", "--quiet", "-m", "one"]);
    dir
}

async fn asked(dir: &Path, question: GitQuestion) -> String {
    GitState::ask(dir, &environment(dir), question, PATIENCE).await.to_string()
}

#[tokio::test]
async fn a_repository_is_told_by_its_branch_and_what_changed() {
    let dir = repository();
    let root = dir.path();
    let mut told = vec![asked(root, GitQuestion::Status).await];
    fs::write(root.join("kept.txt"), "changed").unwrap();
    fs::write(root.join("new\nline.txt"), "new").unwrap();
    git(root, &["mv", "old name.txt", "new name.txt"]);
    fs::create_dir(root.join("beneath")).unwrap();
    told.push(asked(&root.join("beneath"), GitQuestion::Status).await);
    told.push(asked(root, GitQuestion::Branch).await);
    git(root, &["checkout", "--quiet", "--detach"]);
    told.push(asked(root, GitQuestion::Status).await);
    told.push(asked(root, GitQuestion::Branch).await);
    expect![[r#"
        branch main; clean
        branch main; 2 changed, 1 untracked
        branch main
        branch (none, a commit is checked out); 2 changed, 1 untracked
        branch (none, a commit is checked out)"#]]
    .assert_eq(&told.join("\n"));
}

#[tokio::test]
async fn what_is_no_repository_or_has_no_git_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let mut told = vec![asked(dir.path(), GitQuestion::Status).await];
    fs::create_dir(dir.path().join(".git")).unwrap();
    told.push(asked(dir.path(), GitQuestion::Branch).await);
    told.push(asked(dir.path(), GitQuestion::Status).await);
    let without = GitEnvironment { path: Some("relative:.".into()), ..environment(dir.path()) };
    told.push(GitState::ask(dir.path(), &without, GitQuestion::Status, PATIENCE).await.to_string());
    expect![[r#"
        not a repository
        unknown (git fails: fatal: not a git repository (or any of the parent directories): .git)
        unknown (git fails: fatal: not a git repository (or any of the parent directories): .git)
        unknown (git is not installed)"#]]
    .assert_eq(&told.join("\n"));
}

#[tokio::test]
#[cfg(unix)]
async fn nothing_that_an_untrusted_repository_configures_is_run() {
    use std::os::unix::fs::PermissionsExt;
    let dir = repository();
    let root = dir.path();
    let trap = root.join("trap.sh");
    fs::write(&trap, format!("#!/bin/sh\ntouch {}/sprung\ncat\n", root.display())).unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let trap = trap.display().to_string();
    for setting in ["core.fsmonitor", "core.pager", "core.sshCommand", "diff.external", "filter.trap.clean"] {
        git(root, &["config", setting, &trap]);
    }
    git(root, &["config", "alias.symbolic-ref", &format!("!{trap}")]);
    git(root, &["config", "core.hooksPath", &root.display().to_string()]);
    fs::copy(root.join("trap.sh"), root.join("post-index-change")).unwrap();
    fs::write(root.join(".gitattributes"), "* filter=trap\n").unwrap();
    fs::write(root.join("kept.txt"), "changed").unwrap();
    assert_eq!(asked(root, GitQuestion::Branch).await, "branch main");
    assert!(!root.join("sprung").exists());
    // Even in a trusted one neither hooks nor monitors run; filters do, as for any other command of git.
    git(root, &["config", "--unset", "filter.trap.clean"]);
    assert_eq!(asked(root, GitQuestion::Status).await, "branch main; 1 changed, 3 untracked");
    assert!(!root.join("sprung").exists());
}

#[tokio::test]
#[cfg(unix)]
async fn git_that_says_too_much_is_heard_no_further() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("work/.git")).unwrap();
    let program = dir.path().join("git");
    fs::write(&program, "#!/bin/sh\nprintf '# branch.head main\\0'\nwhile :; do printf '? file\\0'; done\n")
        .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let environment = GitEnvironment { path: Some(dir.path().into()), ..GitEnvironment::default() };
    let state = GitState::ask(&dir.path().join("work"), &environment, GitQuestion::Status, PATIENCE).await;
    match state {
        GitState::Branch { changes: Some(changes), .. } => {
            assert!(changes.is_cut && changes.untracked > 30_000)
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
#[cfg(unix)]
async fn git_that_does_not_answer_is_ended() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("work/.git")).unwrap();
    let program = dir.path().join("git");
    fs::write(&program, "#!/bin/sh\nread never < /dev/tty; while :; do :; done\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let environment = GitEnvironment { path: Some(dir.path().into()), ..GitEnvironment::default() };
    let short = Duration::from_millis(50);
    let state = GitState::ask(&dir.path().join("work"), &environment, GitQuestion::Status, short).await;
    assert_eq!(state.to_string(), "unknown (git did not answer within 50 ms)");
}

#[test]
fn odd_answers_are_read_without_harm() {
    let status = |output: &[u8], code| {
        let said = GitOutput {
            code,
            output: output.to_vec(),
            errors: b"fatal: \x1b[31modd\xff\nmore".to_vec(),
            is_cut: false,
        };
        read(&said, GitQuestion::Status).to_string()
    };
    let told = [
        status(b"", Some(0)),
        status(b"# branch.head a\x1b]0;b\0# branch.upstream o/m\0# branch.ab +3 -x\0u UU c\0 2 \0", Some(0)),
        status(b"2 R. a\0", Some(0)),
        status(b"\xff\xfe", None),
        status(format!("# branch.head {}\0", "b".repeat(10_000)).as_bytes(), Some(0)).len().to_string(),
    ];
    expect![[r#"
        branch ?; clean
        branch a\u{1b}]0;b; 1 in conflict; 3 ahead of and 0 behind o/m
        branch ?; 1 changed
        unknown (git fails: fatal: \u{1b}[31modd�)
        214"#]]
    .assert_eq(&told.join("\n"));
}
