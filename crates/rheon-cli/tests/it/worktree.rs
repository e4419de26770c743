//! Sessions with a git worktree of their own.

use std::path::Path;
use std::process::Command;

use expect_test::expect;
use rheon_testkit::server::{FakeReply, ReplyCondition, ReplyCount, Script};
use serde_json::{Value, json};

use crate::stage::{MODEL, Stage, write};
use crate::support::Ran;

const ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

fn git(dir: &Path, arguments: &[&str]) -> String {
    let ran = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(dir)
        .env("HOME", dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

/// A stage whose workspace is a repository with a commit.
fn stage(script: impl Into<Script>) -> Stage {
    let stage = Stage::new(script);
    let workspace = stage.path("workspace");
    git(&workspace, &["init", "--quiet", "--initial-branch=main"]);
    write(&workspace.join("part/b.txt"), "deeper\n");
    git(&workspace, &["add", "."]);
    git(&workspace, &["commit", "--quiet", "-m", "one"]);
    stage
}

/// The program with the programs of the machine.
fn command(stage: &Stage, arguments: &[&str]) -> Command {
    let mut command = stage.rheon(&[&["-p", "--model", MODEL], arguments].concat());
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command
}

fn run(stage: &Stage, arguments: &[&str]) -> Ran {
    without_figures(stage.ran(command(stage, arguments)))
}

/// The same without the line of what a run used.
fn without_figures(ran: Ran) -> Ran {
    let stderr = ran.stderr.split_inclusive('\n').filter(|line| !line.contains(" out tokens · ")).collect();
    Ran { stderr, ..ran }
}

/// What a run says besides its answer, and how it ended.
fn said(stage: &Stage, arguments: &[&str]) -> String {
    let ran = run(stage, arguments);
    format!("{:?} {}", ran.code, ran.stderr)
}

/// The model answers, whatever is asked.
fn talks() -> Script {
    Script::always(FakeReply::text("Hello."))
}

/// The model makes a file once, and answers from then on.
fn writes() -> Script {
    let write = FakeReply::call("write", &json!({ "path": "made.txt", "content": "made\n" }));
    Script::new([write, FakeReply::text("Done.").times(ReplyCount::Always)])
}

/// The directory that the model was told it works in.
fn told_dir(stage: &Stage, request: usize) -> String {
    let text = stage.server.requests()[request].json.to_string();
    let dir = stage.path("workspace").display().to_string();
    let (_, rest) = text.split_once(&dir).unwrap_or_else(|| panic!("{text}"));
    rest.split(['"', '\\', '\n', ' ', '`']).next().unwrap().to_owned()
}

fn state(stage: &Stage) -> (String, String, bool) {
    let workspace = stage.path("workspace");
    let branches = git(&workspace, &["branch", "--format=%(refname:short)"]);
    (git(&workspace, &["status", "--porcelain"]), branches, workspace.join(".rheon").exists())
}

#[test]
fn a_worktree_in_which_nothing_changed_is_gone() {
    let stage = stage(talks());
    for arguments in [&["hi", "-w", "quiet"][..], &["hi", "-w"], &["hi", "--worktree=quiet"]] {
        assert_eq!(said(&stage, arguments), "Some(0) ", "{arguments:?}");
        assert_eq!(state(&stage), (String::new(), "main\n".into(), false));
    }
    assert_eq!(told_dir(&stage, 0), "/.rheon/worktrees/quiet");
    assert!(told_dir(&stage, 1).starts_with("/.rheon/worktrees/"));
    // It was told of once only, however often there was one.
    let exclude = std::fs::read_to_string(stage.path("workspace/.git/info/exclude")).unwrap();
    assert_eq!(exclude.matches("/.rheon/worktrees/\n").count(), 1);
}

#[test]
fn what_is_made_stays_in_the_worktree() {
    let stage = stage(writes());
    let arguments = ["make it", "--permission-mode", "acceptEdits", "--output-format", "json", "-w", "maker"];
    let ran = run(&stage, &arguments);
    expect![[r#"
        note: kept the worktree STAGE/workspace/.rheon/worktrees/maker: branch worktree-maker, 1 uncommitted change; to merge: commit there yourself, then git merge worktree-maker; to remove it: git worktree remove --force STAGE/workspace/.rheon/worktrees/maker && git branch -D worktree-maker
    "#]].assert_eq(&ran.stderr);
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    let workspace = stage.path("workspace");
    assert_eq!(std::fs::read_to_string(workspace.join(".rheon/worktrees/maker/made.txt")).unwrap(), "made\n");
    assert!(!workspace.join("made.txt").exists());
    assert_eq!(state(&stage), (String::new(), "main\nworktree-maker\n".into(), true));
}

#[test]
fn the_name_is_made_of_the_session_id() {
    let stage = stage(writes());
    run(&stage, &["make it", "--permission-mode", "acceptEdits", "--session-id", ID, "-w"]);
    assert!(stage.path("workspace/.rheon/worktrees/b302099a8057/made.txt").exists());
    assert_eq!(state(&stage).1, "main\nworktree-b302099a8057\n");
}

#[test]
fn a_worktree_is_gone_on_with_until_it_is_merged() {
    let stage = stage(writes());
    let workspace = stage.path("workspace");
    run(&stage, &["make it", "--permission-mode", "acceptEdits", "-w", "x"]);
    let worktree = workspace.join(".rheon/worktrees/x");
    git(&worktree, &["add", "."]);
    git(&worktree, &["commit", "--quiet", "-m", "made"]);
    expect![[r#"
        Some(0) note: kept the worktree STAGE/workspace/.rheon/worktrees/x: branch worktree-x, 1 commit; to merge: git merge worktree-x; to remove it: git worktree remove --force STAGE/workspace/.rheon/worktrees/x && git branch -D worktree-x
    "#]].assert_eq(&said(&stage, &["and now?", "-w", "x"]));
    git(&workspace, &["merge", "--quiet", "worktree-x"]);
    assert_eq!(said(&stage, &["and now?", "-w", "x"]), "Some(0) ");
    assert_eq!(state(&stage), (String::new(), "main\n".into(), false));
    assert!(workspace.join("made.txt").exists());
}

#[test]
fn a_session_goes_on_in_its_worktree() {
    let make = FakeReply::call("write", &json!({ "path": "made.txt", "content": "made\n" }));
    let knows = FakeReply::text("Again.").when(ReplyCondition::contains("make it"));
    let stage = stage(Script::new([make, FakeReply::text("Done."), knows.times(ReplyCount::Always)]));
    let permit = ["--permission-mode", "acceptEdits"];
    run(&stage, &[&["make it", "--session-id", ID, "-w", "x"], &permit[..]].concat());
    for (request, arguments) in [(2, vec!["-r", ID]), (3, vec!["-c"]), (4, vec!["-c", "-w", "x"])] {
        let ran = run(&stage, &[&["again"], &arguments[..]].concat());
        assert_eq!((ran.stdout.as_str(), ran.code), ("Again.\n", Some(0)), "{arguments:?} {}", ran.stderr);
        assert!(ran.stderr.contains("kept the worktree "), "{}", ran.stderr);
        assert_eq!(told_dir(&stage, request), "/.rheon/worktrees/x", "{arguments:?}");
    }
    // From another directory, and after the worktree was removed by hand.
    let workspace = stage.path("workspace");
    git(&workspace, &["worktree", "remove", "--force", ".rheon/worktrees/x"]);
    git(&workspace, &["branch", "--quiet", "-D", "worktree-x"]);
    let mut elsewhere = command(&stage, &["again", "-r", ID]);
    elsewhere.current_dir(stage.path("home"));
    let ran = without_figures(stage.ran(elsewhere));
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.code), ("Again.\n", "", Some(0)));
    assert_eq!(told_dir(&stage, 5), "/.rheon/worktrees/x");
    assert_eq!(state(&stage), (String::new(), "main\n".into(), false));
    // Whoever stands in it works in a directory like any other.
    git(&workspace, &["worktree", "add", "--quiet", "-b", "worktree-x", ".rheon/worktrees/x"]);
    let mut inside = command(&stage, &["again", "-c"]);
    inside.current_dir(workspace.join(".rheon/worktrees/x"));
    let ran = without_figures(stage.ran(inside));
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.code), ("Again.\n", "", Some(0)));
}

#[test]
fn the_dir_within_the_repository_stays_the_same() {
    let stage = stage(talks());
    assert_eq!(said(&stage, &["hi", "-C", "part", "-w", "x"]), "Some(0) ");
    assert_eq!(told_dir(&stage, 0), "/.rheon/worktrees/x/part");
    // Not committed, so not there.
    std::fs::create_dir(stage.path("workspace/new")).unwrap();
    assert_eq!(said(&stage, &["hi", "-C", "new", "-w", "x"]), "Some(0) ");
    assert_eq!(told_dir(&stage, 1), "/.rheon/worktrees/x");
}

#[test]
fn files_that_flags_name_are_where_the_user_is() {
    let stage = stage(talks());
    write(&stage.path("workspace/more.toml"), "limits.turns_max = 7\n");
    assert_eq!(
        said(&stage, &["hi", "--settings", "more.toml", "--add-dir", "../home", "-w", "x"]),
        "Some(0) "
    );
    assert_eq!(stage.server.requests().len(), 1);
}

#[test]
fn tools_and_commands_work_in_the_worktree_and_read_the_repository() {
    let replies = [
        FakeReply::call("glob", &json!({ "pattern": "**/*.txt" })),
        FakeReply::call("read", &json!({ "path": "../../../beside.txt" })),
        FakeReply::call(
            "bash",
            &json!({ "command": "echo here > made.txt; pwd; cat a.txt ../../../beside.txt" }),
        ),
        FakeReply::text("Done."),
    ];
    let stage = stage(Script::new(replies));
    // In the repository, but neither committed nor in the worktree.
    write(&stage.path("workspace/beside.txt"), "readable\n");
    let ran = run(&stage, &["go", "--permission-mode", "bypassPermissions", "-w", "x"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let result = |request: usize| {
        let requests = stage.server.requests();
        requests[request].json["messages"].as_array().unwrap().last().unwrap()["content"].to_string()
    };
    assert!(result(1).contains("a.txt") && result(1).contains("part/b.txt"), "{}", result(1));
    assert!(!result(1).contains("beside"), "{}", result(1));
    assert!(result(2).contains("readable"), "{}", result(2));
    for part in ["workspace/.rheon/worktrees/x", "the content"] {
        assert!(result(3).contains(part), "{part}: {}", result(3));
    }
    // A sandbox of namespaces shows commands nothing of the machine's temporary directories but where they work.
    if !["/tmp", "/var/tmp"].iter().any(|dir| stage.path("").starts_with(dir)) {
        assert!(result(3).contains("readable"), "{}", result(3));
    }
    assert!(stage.path("workspace/.rheon/worktrees/x/made.txt").exists());
    assert!(!stage.path("workspace/made.txt").exists());
}

#[test]
fn a_program_that_drives_the_session_is_told_of_the_dir() {
    let stage = stage(talks());
    let line = json!({ "type": "user", "message": { "role": "user", "content": "hi" } });
    let input = stage.path("input");
    std::fs::write(&input, line.to_string() + "\n").unwrap();
    let formats = ["--input-format", "stream-json", "--output-format", "stream-json", "-w", "x"];
    let mut command = command(&stage, &formats);
    command.stdin(std::fs::File::open(&input).unwrap());
    let ran = stage.ran(command);
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
    let init: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(init["cwd"], "STAGE/workspace/.rheon/worktrees/x");
    assert_eq!(state(&stage), (String::new(), "main\n".into(), false));
}

#[test]
fn settings_that_are_not_committed_hold_and_what_is_trusted_stays_so() {
    let stage = stage(Script::new([
        FakeReply::call("read", &json!({ "path": "part/b.txt" })),
        FakeReply::text("I may not."),
        FakeReply::text("Hello.").times(ReplyCount::Always),
    ]));
    let workspace = stage.path("workspace");
    write(&workspace.join(".rheon/config.local.toml"), "permissions.deny = [\"Read(part/**)\"]\n");
    write(&workspace.join(".gitignore"), ".rheon/config.local.toml\n");
    let hooks = json!([{ "type": "command", "command": "echo the hook ran" }]);
    let hook = json!({ "hooks": { "SessionStart": [{ "hooks": hooks }] } });
    write(&workspace.join(".claude/settings.json"), &hook.to_string());
    git(&workspace, &["add", "."]);
    git(&workspace, &["commit", "--quiet", "-m", "settings"]);
    let ran = run(&stage, &["go", "-w", "x"]);
    assert!(ran.stderr.contains("the project is not trusted"), "{}", ran.stderr);
    let result = stage.server.requests()[1].json["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(!result.contains("deeper"), "{result}");
    let has_run =
        || stage.server.requests().iter().any(|request| request.json.to_string().contains("the hook ran"));
    assert!(!has_run());
    let mut grant = stage.rheon(&["trust", "grant", "--yes"]);
    grant.env("PATH", std::env::var_os("PATH").unwrap());
    let granted = stage.ran(grant);
    assert_eq!(granted.code, Some(0), "{granted:?}");
    assert_eq!(said(&stage, &["go", "-w", "x"]), "Some(0) ");
    assert!(has_run());
}

#[test]
fn several_sessions_work_at_once() {
    let stage = stage(talks());
    let begun: Vec<_> = (0..8).map(|_| command(&stage, &["hi", "-w"]).spawn().unwrap()).collect();
    for child in begun {
        let ran = without_figures(stage.plain(Ran::from(child.wait_with_output().unwrap())));
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.code), ("Hello.\n", "", Some(0)));
    }
    assert_eq!(state(&stage).1, "main\n");
}

#[test]
fn a_worktree_that_another_session_is_in_stays() {
    let stage = stage(talks());
    // As if another session had begun there and were still at work.
    let workspace = stage.path("workspace");
    let path = ".rheon/worktrees/x";
    git(&workspace, &["worktree", "add", "--quiet", "-b", "worktree-x", path]);
    let lock = workspace.join(".git/worktrees/x/rheon.lock");
    std::fs::write(&lock, "").unwrap();
    let other = std::fs::File::open(&lock).unwrap();
    other.lock_shared().unwrap();
    expect![[r#"
        Some(0) note: kept the worktree STAGE/workspace/.rheon/worktrees/x: another session is using it (branch worktree-x)
    "#]].assert_eq(&said(&stage, &["hi", "-w", "x"]));
    drop(other);
    assert_eq!(said(&stage, &["hi", "-w", "x"]), "Some(0) ");
    assert_eq!(state(&stage).1, "main\n");
}

#[test]
fn a_session_that_cannot_begin_leaves_nothing() {
    let stage = stage(talks());
    let mut command = stage.rheon(&["-p", "hi", "--model", "nobody/nothing", "-w", "x"]);
    command.env("PATH", std::env::var_os("PATH").unwrap());
    let ran = stage.ran(command);
    assert_eq!((ran.stdout.as_str(), ran.code), ("", Some(2)), "{}", ran.stderr);
    assert_eq!(state(&stage), (String::new(), "main\n".into(), false));
}

#[test]
fn what_the_repository_would_run_is_not_run() {
    let stage = stage(talks());
    let workspace = stage.path("workspace");
    write(&workspace.join(".gitattributes"), "*.txt filter=trap\n");
    git(&workspace, &["add", "."]);
    git(&workspace, &["commit", "--quiet", "-m", "attributes"]);
    let ran = stage.path("ran");
    let trap = format!("sh -c 'touch {}; cat'", ran.display());
    for key in ["filter.trap.smudge", "filter.trap.clean", "core.fsmonitor"] {
        git(&workspace, &["config", key, &trap]);
    }
    git(&workspace, &["config", "filter.trap.required", "true"]);
    let hook = workspace.join(".git/hooks/post-checkout");
    write(&hook, &format!("#!/bin/sh\ntouch {}\n", ran.display()));
    assert!(Command::new("chmod").arg("+x").arg(&hook).status().unwrap().success());
    std::fs::remove_file(&ran).ok();
    assert_eq!(said(&stage, &["hi", "-w", "x"]), "Some(0) ");
    assert!(!ran.exists());
    assert_eq!(git(&workspace, &["branch", "--format=%(refname:short)"]), "main\n");
}

#[test]
fn what_cannot_be_a_worktree() {
    let stage = stage(talks());
    let workspace = stage.path("workspace");
    git(&workspace, &["branch", "worktree-taken"]);
    write(&workspace.join(".rheon/worktrees/other/file"), "x");
    for name in ["plain", "fresh", "bare"] {
        std::fs::create_dir(stage.path(name)).unwrap();
    }
    git(&stage.path("fresh"), &["init", "--quiet", "--initial-branch=main"]);
    git(&stage.path("bare"), &["init", "--quiet", "--bare"]);
    let mut told = String::new();
    for arguments in [
        &["-w", "fix the bug"][..],
        &["hi", "-w", "a..b"],
        &["hi", "-w", "../x"],
        &["hi", "-w", "taken"],
        &["hi", "-w", "other"],
        &["hi", "-c", "-w"],
        &["hi", "-C", "../plain", "-w"],
        &["hi", "-C", "../fresh", "-w"],
        &["hi", "-C", "../bare", "-w"],
    ] {
        let mut command = command(&stage, arguments);
        if !arguments.contains(&"hi") {
            command.arg("hi");
        }
        let ran = stage.ran(command);
        assert_eq!(ran.stdout, "");
        told += &format!("{:?} {}", ran.code, ran.stderr);
    }
    let without_git = stage.run(&["hi", "-w"]);
    told += &format!("{:?} {}", without_git.code, without_git.stderr);
    std::fs::remove_dir_all(workspace.join(".rheon")).unwrap();
    std::os::unix::fs::symlink(stage.path("plain"), workspace.join(".rheon")).unwrap();
    told += &said(&stage, &["hi", "-w", "x"]);
    assert_eq!(std::fs::read_dir(stage.path("plain")).unwrap().count(), 0);
    expect![[r#"
        Some(2) error: invalid worktree name "fix the bug": it has invalid characters; use at most 64 letters, digits, "-", "_" and "." (put the prompt before -w)
        Some(2) error: invalid worktree name "a..b": branches cannot have ".." in them, nor "." at the end; use at most 64 letters, digits, "-", "_" and "." (put the prompt before -w)
        Some(2) error: invalid worktree name "../x": it has invalid characters; use at most 64 letters, digits, "-", "_" and "." (put the prompt before -w)
        Some(2) error: the branch worktree-taken exists, but no worktree for it; choose another name, or check its commits (`git log worktree-taken`) and remove it: git worktree prune && git branch -D worktree-taken
        Some(2) error: STAGE/workspace/.rheon/worktrees/other exists and is not a worktree of this repository; choose another name or move it
        Some(2) error: -w needs a name together with -c or -r; without -w a session resumes in its own worktree
        Some(2) error: STAGE/plain is not in a git repository; change to one, run `git init`, or omit -w
        Some(2) error: the repository STAGE/fresh has no commits; commit something first
        Some(2) error: STAGE/bare is a bare repository; change to a directory where it is checked out
        Some(2) error: cannot create a worktree: git is not installed; install it or omit -w
        Some(2) error: STAGE/workspace/.rheon is a symlink; remove it
    "#]].assert_eq(&told);
    assert_eq!(stage.server.requests().len(), 0);
}

#[test]
fn mode_auto_is_told_to_the_program_that_drives() {
    let stage = Stage::new(FakeReply::text("Hello."));
    let ran = stage.run(&["hi", "--permission-mode", "auto", "--output-format", "stream-json"]);
    let init: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(init["permissionMode"], "auto");
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
}

#[test]
fn definitions_of_sub_agents_are_checked_and_passed_over() {
    let stage = Stage::new(talks());
    let mut told = String::new();
    for agents in
        [r#"{"a": {"description": "x", "prompt": "y"}}"#, r#"{"a": }"#, r#"{"a": {"prompt": "y"}}"#, "a.json"]
    {
        let ran = stage.run(&["hi", "--agents", agents]);
        told += &format!("{:?} {}", ran.code, ran.stderr);
    }
    expect![[r#"
        Some(0) note: ignoring --agents: sub-agents are not supported yet
        1 turn · 0 tools · 100 in / 20 out tokens · $0.0006 · N ms
        Some(2) error: --agents needs JSON, such as {"reviewer": {"description": "…", "prompt": "…"}}: expected value at line 1 column 7
        Some(2) error: --agents needs JSON, such as {"reviewer": {"description": "…", "prompt": "…"}}: "a" has no "description" text
        Some(2) error: --agents needs JSON, such as {"reviewer": {"description": "…", "prompt": "…"}}: expected value at line 1 column 1
    "#]].assert_eq(&told);
    assert_eq!(stage.server.requests().len(), 1);
}
