//! Nothing ends a run that the user did not ask for, and nothing is written where it was not expected.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rheon_testkit::server::{FakeReply, Script};
use serde_json::{Value, json};

use crate::stage::{MODEL, Stage};

/// The program with the programs of the machine.
fn with_programs(stage: &Stage, arguments: &[&str]) -> Command {
    let mut command = stage.rheon(&[&["-p", "--model", MODEL], arguments].concat());
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command
}

#[test]
fn a_budget_that_covers_the_next_call_never_ends_a_run() {
    // Its prompt and the longest answer would cost a dollar; it costs $0.0006.
    for (flag, amount) in [("--max-budget-usd", "0.05"), ("--max-tokens", "12000")] {
        let stage = Stage::new(Script::always(FakeReply::text("Hello.")));
        let ran = stage.run(&["hi", flag, amount]);
        assert_eq!((ran.stdout.as_str(), ran.code), ("Hello.\n", Some(0)), "{flag}: {}", ran.stderr);
    }
}

#[test]
fn a_run_without_limits_takes_as_many_turns_as_it_needs() {
    let mut replies: Vec<FakeReply> =
        (0..60).map(|nth| FakeReply::call("read", &json!({ "path": "a.txt", "offset": nth + 1 }))).collect();
    replies.push(FakeReply::text("Read."));
    let stage = Stage::new(Script::from(replies));
    let ran = stage.run(&["hi"]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("Read.\n", Some(0)), "{}", ran.stderr);
    assert_eq!(stage.server.requests().len(), 61);
}

/// The names of the events about tools, each with the command it belongs to.
fn tool_events(stage: &Stage, arguments: &[&str]) -> Vec<String> {
    let ran = stage.ran(with_programs(stage, &[&["--output-format", "events"], arguments].concat()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let events = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let tools = events.filter_map(|event| {
        let event = &event["kind"];
        let kind = event["type"].as_str().unwrap().strip_prefix("tool.")?.to_owned();
        ["start", "end"]
            .contains(&kind.as_str())
            .then(|| format!("{kind} {}", event["call_id"].as_str().unwrap()))
    });
    tools.collect()
}

#[test]
fn commands_of_one_turn_that_change_something_run_in_order_and_reads_together() {
    let bash = |reply: FakeReply, command: &str| reply.and_call("bash", &json!({ "command": command }));
    let writes = ["sleep 0.2; echo one > order.txt", "echo two >> order.txt", "cat order.txt"];
    let calls = writes.iter().fold(FakeReply::empty(), |reply, command| bash(reply, command));
    let stage = Stage::new([calls, FakeReply::text("Done.")]);
    let events = tool_events(&stage, &["go", "--permission-mode", "bypassPermissions"]);
    let ids: Vec<&str> = events.iter().map(|event| event.split(' ').next_back().unwrap()).collect();
    let (one, two, three) = (ids[0], ids[2], ids[4]);
    let expected =
        [("start", one), ("end", one), ("start", two), ("end", two), ("start", three), ("end", three)];
    assert_eq!(events, expected.map(|(kind, id)| format!("{kind} {id}")));
    assert_eq!(std::fs::read_to_string(stage.path("workspace/order.txt")).unwrap(), "one\ntwo\n");

    let reads = ["cat a.txt", "ls"].iter().fold(FakeReply::empty(), |reply, command| bash(reply, command));
    let stage = Stage::new([reads, FakeReply::text("Done.")]);
    let events = tool_events(&stage, &["go", "--permission-mode", "bypassPermissions"]);
    let kinds: Vec<&str> = events.iter().map(|event| event.split(' ').next().unwrap()).collect();
    assert_eq!(kinds, ["start", "start", "end", "end"]);
}

fn has_transcript(stage: &Stage) -> bool {
    let Ok(projects) = std::fs::read_dir(stage.path("home/.claude/projects")) else { return false };
    projects.flatten().any(|project| std::fs::read_dir(project.path()).unwrap().next().is_some())
}

#[test]
fn transcripts_for_claude_code_are_written_where_it_is_used() {
    let stage = || Stage::new(Script::always(FakeReply::text("Hello.")));
    let plain = stage();
    assert_eq!(plain.run(&["hi"]).code, Some(0));
    assert!(!plain.path("home/.claude").exists());

    let used = stage();
    std::fs::create_dir(used.path("home/.claude")).unwrap();
    assert_eq!(used.run(&["hi"]).code, Some(0));
    assert!(has_transcript(&used));

    let always = stage();
    assert_eq!(always.run(&["hi", "--settings", "sessions.transcripts = true"]).code, Some(0));
    assert!(has_transcript(&always));

    let never = stage();
    std::fs::create_dir(never.path("home/.claude")).unwrap();
    assert_eq!(never.run(&["hi", "--settings", "sessions.transcripts = false"]).code, Some(0));
    assert!(!has_transcript(&never));

    // A program that drives Rheon as it would drive `claude` finds what it expects.
    let driven = stage();
    let arguments = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
    let mut child =
        driven.rheon(&[&["--model", MODEL], &arguments[..]].concat()).stdin(Stdio::piped()).spawn().unwrap();
    let prompt = json!({ "type": "user", "message": { "role": "user", "content": "hi" } });
    writeln!(child.stdin.take().unwrap(), "{prompt}").unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    assert!(has_transcript(&driven));
}

#[test]
fn the_doctor_lists_every_directory_that_is_written_to_with_its_size() {
    let stage = Stage::new(Script::always(FakeReply::text("Hello.")));
    std::fs::create_dir(stage.path("home/.claude")).unwrap();
    std::fs::create_dir_all(stage.path("workspace/.rheon/worktrees/x")).unwrap();
    std::fs::write(stage.path("workspace/.rheon/worktrees/x/file"), "12345").unwrap();
    assert_eq!(stage.run(&["hi"]).code, Some(0));
    let mut command = stage.rheon(&["doctor"]);
    command.env("PATH", std::env::var_os("PATH").unwrap());
    let ran = stage.ran(command);
    let lines = ran.stdout.lines().filter_map(|line| line.strip_prefix("ok    directory "));
    // Sizes of files that grow with the program's version are not compared.
    let known = |line: &str| match line.split_once(" (") {
        Some((path, size)) if size.ends_with("B)") || size.ends_with("bytes)") => format!("{path} (SIZE)"),
        Some(_) | None => line.to_owned(),
    };
    let lines: Vec<String> = lines.map(known).collect();
    assert_eq!(
        lines,
        [
            "settings: STAGE/home/.config/rheon (created when needed)",
            "sessions: STAGE/home/.local/share/rheon (SIZE)",
            "state: STAGE/home/.local/state/rheon (SIZE)",
            "cache: STAGE/home/.cache/rheon (SIZE)",
            "transcripts for Claude Code: STAGE/home/.claude/projects (SIZE)",
            "worktrees: STAGE/workspace/.rheon/worktrees (SIZE)",
            "temporary files: rheon-* in STAGE (removed when a session ends)",
        ]
    );
    assert!(ran.stdout.contains("/.rheon/worktrees (5 bytes)"), "{}", ran.stdout);
}

fn git(dir: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
    let mut command = Command::new("git");
    command.args(identity).args(arguments).current_dir(dir).env("HOME", dir);
    assert!(command.env("GIT_CONFIG_NOSYSTEM", "1").status().unwrap().success(), "{arguments:?}");
}

#[test]
fn sessions_of_other_worktrees_of_the_repository_are_listed() {
    let stage = Stage::new(Script::always(FakeReply::text("Hello.")));
    let workspace = stage.path("workspace");
    git(&workspace, &["init", "--quiet", "--initial-branch=main"]);
    git(&workspace, &["add", "."]);
    git(&workspace, &["commit", "--quiet", "-m", "one"]);
    git(&workspace, &["worktree", "add", "--quiet", "../other"]);
    assert_eq!(stage.run(&["in the main one"]).code, Some(0));
    let other = stage.path("other");
    let mut command = stage.rheon(&["-p", "--model", MODEL, "in the other one"]);
    assert!(command.current_dir(&other).output().unwrap().status.success());
    let listed = |dir: &Path| {
        let mut command = stage.rheon(&["sessions", "list"]);
        command.current_dir(dir);
        let mut about: Vec<String> = stage.ran(command).stdout.lines().skip(1).map(about).collect();
        about.sort();
        about
    };
    assert_eq!(listed(&workspace), ["in the main one", "in the other one (in STAGE/other)"]);
    assert_eq!(listed(&other), ["in the main one (in STAGE/workspace)", "in the other one"]);
}

/// The last column of a row.
fn about(row: &str) -> String {
    row.find("in the ").and_then(|place| row.get(place..)).unwrap_or_default().trim_end().to_owned()
}
