//! How headless runs end: what is said, and the exit code that scripts rely on.

use std::fs::File;

use expect_test::expect;
use rheon_testkit::server::{FakeReply, Fault, ReplyBlock, ReplyCount, Script, UsageReport};
use rheon_types::Usage;
use serde_json::json;

use crate::stage::{MODEL, Stage, come_back_at_once, reads};
use crate::support::{Begun, Ran, kill};

/// The id of a session that is named in what is said.
const ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

/// The model wants to write a file.
fn writes() -> FakeReply {
    FakeReply::call("write", &json!({ "path": "new.txt", "content": "x" }))
}

/// Only what is said on standard error of a run that says nothing else.
fn stderr(ran: &Ran, code: i32) -> String {
    assert_eq!((ran.stdout.as_str(), ran.code), ("", Some(code)), "{}", ran.stderr);
    ran.stderr.clone()
}

#[test]
fn a_budget_that_is_spent() {
    let stage = Stage::new(Script::always(FakeReply::call("read", &json!({ "path": "a.txt" }))));
    let ran = stage.run(&["hi", "--max-budget-usd", "0.001", "--session-id", ID]);
    expect![[r#"
        the budget does not cover the next call: $0.0000 of $0.0010

        stopped at a limit · 0 turns · 0 tools · 0 in / 0 out tokens · $0.0000 · N ms · $0.0010 of $0.0010 left
        error: stopped: the budget does not cover the next call; allow more with --max-budget-usd, or resume with rheon -r 01890a5d-ac96-774b-bcce-b302099a8057
    "#]]
    .assert_eq(&stderr(&ran, 3));
}

#[test]
fn a_budget_of_tokens_names_its_own_flag() {
    let usage = Usage { input: 6_000, output: 20, ..Usage::default() };
    let read = FakeReply::call("read", &json!({ "path": "a.txt" })).usage(UsageReport::counts(usage));
    let stage = Stage::new(Script::always(read));
    for tokens in ["300", "20000"] {
        let ran = stage.run(&["hi", "--max-tokens", tokens]);
        let last = stderr(&ran, 3).lines().last().unwrap().to_owned();
        assert!(last.contains("; allow more with --max-tokens, or resume with"), "{last}");
    }
}

#[test]
fn too_many_turns() {
    let stage = Stage::new(Script::always(FakeReply::call("read", &json!({ "path": "a.txt" }))));
    let ran = stage.run(&["hi", "--max-turns", "1", "--session-id", ID]);
    expect![[r#"
        ● read a.txt
          └ 1 the content · N ms

        stopped at a limit · 1 turn · 1 tool · 100 in / 20 out tokens · $0.0006 · N ms
        error: stopped: the turn limit of 1 was reached; allow more with --max-turns, or resume with rheon -r 01890a5d-ac96-774b-bcce-b302099a8057
    "#]]
    .assert_eq(&stderr(&ran, 4));
    let ran = stage.run(&["hi", "--max-turns", "1", "--output-format", "json"]);
    let result: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((result["subtype"].as_str(), ran.code), (Some("error_max_turns"), Some(4)));
}

#[test]
fn a_call_that_nobody_could_be_asked_about() {
    let stage = Stage::new([writes(), FakeReply::text("I may not write.")]);
    let ran = stage.run(&["Write new.txt."]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("I may not write.\n", Some(5)));
    expect![[r#"
        write needs approval · changes the workspace
          change new.txt: no rule allows it; edits need approval
          new.txt
            1 +x
              \ No newline at end of file
          to allow it: --allowed-tools 'Edit(/STAGE/workspace/new.txt)'
          to allow all edits in the workspace: --permission-mode acceptEdits

        ● write new.txt
          └ not run: permission denied: write needs approval (change new.txt: no rule allows it; edits need…

        2 turns · 0 tools · 200 in / 40 out tokens · $0.0012 · N ms
        error: the last tool call was denied: this run is non-interactive. Allow it with --allowed-tools, --permission-mode or a rule (see `rheon policy explain`)
    "#]].assert_eq(&ran.stderr);
    assert!(!stage.path("workspace/new.txt").exists());
}

#[test]
fn the_advice_after_a_denial_says_who_denied_the_call() {
    let hook = json!({ "type": "command", "command": "echo use cargo instead >&2; exit 2" });
    let hooks = json!({ "hooks": { "PreToolUse": [{ "matcher": "Write", "hooks": [hook] }] } });
    let stage = Stage::new([writes(), FakeReply::text("I may not write.")]);
    std::fs::create_dir_all(stage.path("home/.claude")).unwrap();
    std::fs::write(stage.path("home/.claude/settings.json"), hooks.to_string()).unwrap();
    let ran = stage.run(&["Write new.txt.", "--allowed-tools", "Write"]);
    assert_eq!(ran.code, Some(5), "{}", ran.stderr);
    assert_eq!(
        ran.stderr.lines().last(),
        Some(
            "error: the last tool call was denied by a hook: use cargo instead; find the hook with `rheon config show \
             hooks --origin`"
        ),
    );
    let stage = Stage::new([writes(), FakeReply::text("I may not write.")]);
    let ran = stage.run(&["Write new.txt.", "--disallowed-tools", "Edit(new.txt)"]);
    assert_eq!(ran.code, Some(5), "{}", ran.stderr);
    let last = ran.stderr.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("error: the last tool call was denied: ") && !last.contains("non-interactive"),
        "{last}"
    );
}

#[test]
fn a_call_that_makes_no_sense_is_no_refusal() {
    let garbage = FakeReply::call("read", &json!({ "path": 5 })).and_call("nonesuch", &json!({}));
    let (name, arguments) = ("read".to_owned(), "{\"path\": \"a".to_owned());
    let no_json = FakeReply::empty().and(ReplyBlock::Call { id: None, name, arguments, signature: None });
    let stage = Stage::new([garbage, no_json, FakeReply::text("I give up.")]);
    let ran = stage.run(&["Read it."]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("I give up.\n", Some(0)), "{}", ran.stderr);
    assert!(!ran.stderr.contains("error: "), "{}", ran.stderr);
}

#[test]
fn a_call_that_is_allowed_is_made() {
    for arguments in [["--allowed-tools", "Write"], ["--permission-mode", "acceptEdits"]] {
        let stage = Stage::new([writes(), FakeReply::text("It is written.")]);
        let ran = stage.run(&[&["Write new.txt."][..], &arguments].concat());
        assert_eq!((ran.stdout.as_str(), ran.code), ("It is written.\n", Some(0)), "{}", ran.stderr);
        assert_eq!(std::fs::read_to_string(stage.path("workspace/new.txt")).unwrap(), "x");
    }
}

#[test]
fn a_service_that_asks_to_come_back_later() {
    let stage = Stage::new(Script::always(come_back_at_once(429)));
    let ran = stage.run(&["hi"]);
    expect![[r#"
        429 rate_limit_error: Rate limit reached: too many requests.; retry 1 of 3 in N ms
        429 rate_limit_error: Rate limit reached: too many requests.; retry 2 of 3 in N ms
        429 rate_limit_error: Rate limit reached: too many requests.; retry 3 of 3 in N ms

        failed · 1 turn · 0 tools · 0 in / 0 out tokens · cost unknown · N ms
        error: the model call failed: 429 rate_limit_error: Rate limit reached: too many requests.; retry later, or set another model with --fallback-model
    "#]].assert_eq(&stderr(&ran, 75));
    assert_eq!(stage.server.requests().len(), 4);
}

#[test]
fn a_service_that_is_overloaded_for_a_moment_is_asked_again() {
    let stage = Stage::new([come_back_at_once(529).times(ReplyCount::Exactly(2)), FakeReply::text("Here.")]);
    let ran = stage.run(&["hi"]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("Here.\n", Some(0)), "{}", ran.stderr);
}

#[test]
fn a_key_that_is_refused() {
    let stage = Stage::new(Script::always(FakeReply::status(401)));
    let ran = stage.run(&["hi"]);
    expect![[r#"
        failed · 1 turn · 0 tools · 0 in / 0 out tokens · cost unknown · N ms
        error: the model call failed: 401 authentication_error: invalid x-api-key; check the API key of this service and the permissions of its account
    "#]].assert_eq(&stderr(&ran, 1));
    assert_eq!(stage.server.requests().len(), 1);
}

#[test]
fn no_key() {
    let stage = Stage::new(reads());
    let mut command = stage.rheon(&["-p", "hi", "--model", MODEL]);
    command.env_remove("ANTHROPIC_API_KEY");
    expect![[r#"
        failed · 1 turn · 0 tools · 0 in / 0 out tokens · cost unknown · N ms
        error: the model call failed: no key for anthropic: set ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or ANTHROPIC_OAUTH_TOKEN, or api_key_command in the config
    "#]].assert_eq(&stderr(&stage.ran(command), 1));
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_stream_that_hangs() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let stage = Stage::new(FakeReply::text("This takes long.").with(Fault::StallAfterEvent(3)));
        let arguments = ["-p", "hi", "--model", MODEL, "--output-format", "stream-json"];
        // The first line is said when the run has begun.
        let begun = Begun::new(stage.rheon(&arguments));
        stage.runtime.block_on(stage.server.wait_for_stall(1));
        kill(signal, &begun.child);
        let ran = begun.finish();
        let last: serde_json::Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
        assert_eq!((last["type"].as_str(), ran.code), (Some("result"), Some(code)));
        assert_eq!(last["terminal_reason"], "aborted_streaming");
        assert_eq!(stage.plain(ran).stderr, "");
    }
}

#[cfg(unix)]
#[test]
fn a_program_that_is_interrupted_twice_leaves_no_temporary_dir() {
    use std::io::Write as _;
    let stage = Stage::new(FakeReply::text("This takes long.").with(Fault::StallAfterEvent(3)));
    let dir = stage.path("temporary");
    std::fs::create_dir_all(&dir).unwrap();
    // The pipe is full, so that the end of the run waits for ever to be written.
    let (_reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&[b'\n'; 65_536]).unwrap();
    let mut command = stage.rheon(&["-p", "hi", "--model", MODEL]);
    let mut child = command.env("TMPDIR", &dir).stdout(writer).spawn().unwrap();
    stage.runtime.block_on(stage.server.wait_for_stall(1));
    // Signals that come together count as one, so two may not be enough.
    let code = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status.code(),
            None => kill("INT", &child),
        }
    };
    let left: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!((left, code), (Vec::new(), Some(130)));
}

/// Whether whoever runs the tests ignores that their terminal goes, and with them all that they start.
#[cfg(target_os = "linux")]
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & 1 == 1
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_is_gone_ends_a_run_in_order_unless_it_was_started_to_stay() {
    let arguments = ["-p", "hi", "--model", MODEL, "--output-format", "stream-json"];
    let script = || FakeReply::text("This takes long.").with(Fault::StallAfterEvent(3));
    let ended = |ran: Ran| {
        let last: serde_json::Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
        (last["terminal_reason"].as_str().unwrap().to_owned(), ran.code)
    };
    if !is_hangup_ignored() {
        let stage = Stage::new(script());
        let begun = Begun::new(stage.rheon(&arguments));
        stage.runtime.block_on(stage.server.wait_for_stall(1));
        kill("HUP", &begun.child);
        assert_eq!(ended(begun.finish()), ("aborted_streaming".to_owned(), Some(143)));
    }
    let stage = Stage::new(script());
    let program = stage.rheon(&arguments);
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", "trap '' HUP; exec \"$@\""]).arg("sh");
    command.arg(program.get_program()).args(program.get_args()).env_clear();
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(stage.path("workspace"));
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
    command.stderr(std::process::Stdio::piped());
    let begun = Begun::new(command);
    stage.runtime.block_on(stage.server.wait_for_stall(1));
    kill("HUP", &begun.child);
    kill("INT", &begun.child);
    assert_eq!(ended(begun.finish()), ("aborted_streaming".to_owned(), Some(130)));
}

#[test]
fn a_reader_who_leaves_is_no_error() {
    for format in ["text", "json", "stream-json", "events"] {
        let stage = Stage::new(reads());
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = stage.rheon(&["-p", "hi", "--model", MODEL, "--output-format", format]);
        command.stdout(writer);
        let ran = stage.ran(command);
        assert_eq!((ran.stdout.as_str(), ran.code), ("", Some(0)), "{format}");
        assert!(!ran.stderr.contains("error") && !ran.stderr.contains("panic"), "{}", ran.stderr);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let stage = Stage::new(reads());
    let mut command = stage.rheon(&["-p", "hi", "--model", MODEL, "--output-format", "json"]);
    command.stdout(File::options().write(true).open("/dev/full").unwrap());
    let ran = stage.ran(command);
    expect![[r#"
        error: cannot write to standard output: No space left on device (os error 28)
    "#]]
    .assert_eq(&stderr(&ran, 1));
}
