//! Processes: at once, each once, in an environment of their own, ended for certain.

use std::io::Read as _;

use rheon_types::{Hook, HookVerdict, ToolError};
use serde_json::json;

use crate::hooks::fixtures::{Stage, bash, bring_about, call, command};
use crate::hooks::{HookEnvironment, HookEvent, HookSettings};

#[tokio::test]
async fn hooks_run_at_once_and_the_strictest_word_counts() {
    let stage = Stage::new();
    // Each waits for the other, so that neither ends unless both run.
    let meet = |own: &str, other: &str, then: &str| {
        format!(
            "mkfifo {own} 2>/dev/null; mkfifo {other} 2>/dev/null; (echo > {own}) & read x < {other}; wait; {then}"
        )
    };
    let allow =
        r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'"#;
    let hooks = stage.hooks(json!({ "PreToolUse": [
        { "matcher": "Bash", "hooks": [command(&meet("a", "b", "echo never >&2; exit 2")), command(&meet("b", "a", allow))] },
        { "matcher": "Edit", "hooks": [command("touch wrong")] },
    ] }));
    assert_eq!(hooks.permit_tool(&bash("ls")).get().await.verdict, Some(HookVerdict::Deny("never".into())));
    assert!(!stage.path("wrong").exists());
}

#[tokio::test]
async fn deny_goes_before_defer_before_ask_before_allow() {
    let word = |decision: &str| {
        let output = json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": decision,
        } });
        command(&format!("echo '{output}'"))
    };
    let mut rows = Vec::new();
    for words in
        [&["allow", "ask"][..], &["defer", "ask", "allow"], &["ask", "deny", "defer"], &["allow", "allow"]]
    {
        let stage = Stage::new();
        let commands: Vec<_> = words.iter().map(|decision| word(decision)).collect();
        let hooks = stage.hooks(json!({ "PreToolUse": [{ "hooks": commands }] }));
        rows.push(hooks.permit_tool(&bash("ls")).get().await.verdict.unwrap());
    }
    let ask = |why: &str| HookVerdict::Ask(why.into());
    assert_eq!(rows, [ask("ask"), ask("defer"), HookVerdict::Deny("deny".into()), HookVerdict::Allow]);
}

#[tokio::test]
async fn the_same_command_runs_once_however_often_it_is_written() {
    let stage = Stage::new();
    let file = |matcher: &str| {
        let hooks = json!({ "hooks": { "PreToolUse": [{ "matcher": matcher, "hooks": [command("echo ran >> runs")] }] } });
        HookSettings::parse(&hooks.to_string(), "settings.json").unwrap()
    };
    let hooks = stage.made_of(HookSettings::merged([file("Bash"), file("*"), file("bash")]));
    hooks.permit_tool(&bash("ls")).get().await;
    assert_eq!(stage.read("runs"), "ran\n");
}

#[tokio::test]
async fn a_condition_names_the_calls_that_a_hook_is_for() {
    let stage = Stage::new();
    let hook =
        |rule: &str| json!({ "type": "command", "if": rule, "command": format!("echo '{rule}' >> runs") });
    let hooks = stage.hooks(json!({ "PreToolUse": [{ "hooks": [
        hook("Bash(rm *)"), hook("Edit(src/**)"), hook("WebFetch(domain:example.com)"), hook("mcp__github"),
    ] }] }));
    let mut rows = String::new();
    for call in [
        bash("ls && rm -rf x"),
        bash("ls"),
        bash("ls > src/a.rs"),
        bash("$(cat x)"),
        call("write", json!({ "path": "src/a.rs", "content": "" })),
        call("read", json!({ "path": "src/a.rs" })),
        call("web_fetch", json!({ "url": "https://example.com/x" })),
        call("mcp__github__delete", json!({})),
    ] {
        hooks.permit_tool(&call).get().await;
        let mut runs: Vec<String> = stage.read("runs").lines().map(str::to_owned).collect();
        runs.sort();
        rows += &format!("{} {}: {}\n", call.name, call.arguments, runs.join(", "));
        std::fs::remove_file(stage.path("runs")).unwrap_or_default();
    }
    expect_test::expect![[r#"
        bash {"command":"ls && rm -rf x"}: Bash(rm *)
        bash {"command":"ls"}: 
        bash {"command":"ls > src/a.rs"}: Edit(src/**)
        bash {"command":"$(cat x)"}: Bash(rm *), Edit(src/**)
        write {"content":"","path":"src/a.rs"}: Edit(src/**)
        read {"path":"src/a.rs"}: 
        web_fetch {"url":"https://example.com/x"}: WebFetch(domain:example.com)
        mcp__github__delete {}: mcp__github
    "#]]
    .assert_eq(&rows);
}

/// A fifo, opened by a grandchild of the hook for writing, ends when the grandchild does.
fn open_fifo(stage: &Stage) -> std::thread::JoinHandle<()> {
    let path = stage.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    std::thread::spawn(move || {
        let mut pipe = std::fs::File::open(path).unwrap();
        let mut rest = String::new();
        pipe.read_to_string(&mut rest).unwrap();
    })
}

/// Starts a grandchild that holds the fifo for ever, and waits for it.
const GRANDCHILD: &str = "sh -c 'exec 3> fifo; sleep 1000' & wait";

#[tokio::test]
async fn a_hook_that_takes_too_long_is_killed_with_all_that_it_started() {
    let stage = Stage::new();
    let grandchild = open_fifo(&stage);
    let hook = json!({ "type": "command", "command": GRANDCHILD, "timeout": 3, "onFailure": "block" });
    let hooks = stage.hooks(json!({ "PreToolUse": [{ "hooks": [hook] }] }));
    let opinion = hooks.permit_tool(&bash("ls")).get().await.verdict;
    assert_eq!(
        opinion,
        Some(HookVerdict::Deny("a hook that must agree took longer than 3 s and was stopped".into()))
    );
    // On a machine so slow that the grandchild never came to open it, nothing is there to wait for.
    drop(std::fs::File::options().read(true).write(true).open(stage.path("fifo")).unwrap());
    tokio::task::spawn_blocking(|| grandchild.join().unwrap()).await.unwrap();
}

#[tokio::test]
async fn a_hook_that_nobody_waits_for_any_more_is_killed_with_all_that_it_started() {
    let stage = Stage::new();
    let path = stage.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let hooks = stage.one("PreToolUse", GRANDCHILD);
    let opened = tokio::task::spawn_blocking(move || std::fs::File::open(path).unwrap());
    let call = bash("ls");
    let mut pipe = tokio::select! {
        pipe = opened => pipe.unwrap(),
        permit = hooks.permit_tool(&call).get() => panic!("the hook ended by itself: {permit:?}"),
    };
    let read = move || pipe.read_to_string(&mut String::new()).unwrap();
    assert_eq!(tokio::task::spawn_blocking(read).await.unwrap(), 0);
}

#[tokio::test]
async fn ten_megabytes_of_output_and_of_input_are_neither_kept_nor_waited_for() {
    let stage = Stage::new();
    let flood = "head -c 10000000 /dev/zero | tr '\\0' x";
    let hooks = stage.one("UserPromptSubmit", &format!("{flood}; {flood} >&2"));
    let text = bring_about(HookEvent::UserPromptSubmit, &hooks).await;
    assert_eq!(text, format!("Add({:?})", "x".repeat(10_000)));
    let hook = json!({ "type": "command", "command": format!("printf '{{'; {flood}"), "onFailure": "block" });
    let hooks = stage.hooks(json!({ "PreToolUse": [{ "hooks": [hook] }] }));
    // Nor is more read of the input than the hook wants.
    let opinion = hooks.permit_tool(&bash(&"y".repeat(10_000_000))).get().await.verdict;
    let said = "a hook that must agree printed more than 1048576 bytes";
    assert_eq!(opinion, Some(HookVerdict::Deny(said.into())));
}

#[tokio::test]
async fn what_a_hook_leaves_running_keeps_nobody_waiting() {
    let stage = Stage::new();
    let hooks = stage.one("UserPromptSubmit", "sleep 5 & echo noted");
    assert_eq!(bring_about(HookEvent::UserPromptSubmit, &hooks).await, "Add(\"noted\")");
}

#[tokio::test]
async fn a_hook_that_cannot_be_started_is_told_once_and_blocks_only_if_it_must_agree() {
    let stage = Stage::new();
    stage.write("no_execute_bit", "#!/bin/sh\n");
    let mut rows = String::new();
    for (program, args) in [
        ("./missing", json!(null)),
        ("./no_execute_bit", json!(null)),
        ("${CLAUDE_PROJECT_DIR}/missing", json!([])),
        ("${CLAUDE_PROJECT_DIR}/no_execute_bit", json!([])),
    ] {
        for on_failure in ["allow", "block"] {
            let mut hook = json!({ "type": "command", "command": program, "onFailure": on_failure });
            if !args.is_null() {
                hook["args"] = args.clone();
            }
            let hooks = stage.hooks(json!({ "PreToolUse": [{ "hooks": [hook] }] }));
            let first = hooks.permit_tool(&bash("ls")).get().await.verdict;
            let second = hooks.permit_tool(&bash("ls")).get().await.verdict;
            assert_eq!(first, second);
            assert_eq!(first.is_some(), on_failure == "block");
            rows += &format!("{on_failure}: {} message\n", stage.told().len());
        }
    }
    assert_eq!(rows, "allow: 1 message\nblock: 1 message\n".repeat(4));
}

#[tokio::test]
async fn a_hook_that_crashes_has_failed() {
    for (on_failure, opinion) in [
        ("allow", None),
        ("block", Some(HookVerdict::Deny("a hook that must agree was ended by a signal".into()))),
    ] {
        let stage = Stage::new();
        let hook = json!({ "type": "command", "command": "kill -9 $$", "onFailure": on_failure });
        let hooks = stage.hooks(json!({ "PreToolUse": [{ "hooks": [hook] }] }));
        assert_eq!(hooks.permit_tool(&bash("ls")).get().await.verdict, opinion);
        assert_eq!(stage.told(), [r#"the PreToolUse hook "kill -9 $$" was ended by a signal"#]);
    }
}

#[tokio::test]
async fn with_arguments_there_is_no_shell_and_the_environment_is_rebuilt() {
    let stage = Stage::new();
    let script = "printf '%s|' \"$@\" > seen; env | sort >> seen";
    let hooks = stage.hooks(json!({ "PreToolUse": [{ "hooks": [{
        "type": "command", "command": "/bin/sh",
        "args": ["-c", script, "name", "$(touch evil)", "a b", "${CLAUDE_PROJECT_DIR}/x", "$RHEON_PROJECT_DIR"],
    }] }] }));
    hooks.permit_tool(&bash("ls")).get().await;
    let seen = stage.plain(&stage.read("seen"));
    let seen: Vec<&str> = seen
        .lines()
        .filter(|line| !line.starts_with("PWD=") && !line.starts_with("SHLVL=") && !line.starts_with("_="))
        .filter(|line| !line.starts_with("RHEON_COMMAND="))
        .collect();
    assert_eq!(
        seen,
        [
            "$(touch evil)|a b|PROJECT/x|PROJECT|CLAUDE_PROJECT_DIR=PROJECT",
            "PATH=/usr/local/bin:/usr/bin:/bin",
            "RHEON_PROJECT_DIR=PROJECT",
        ]
    );
    assert!(!stage.path("evil").exists());
}

#[test]
fn keys_of_the_user_are_not_handed_on() {
    let pair = |name: &str| (name.to_owned(), "x".to_owned());
    let all =
        ["PATH", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "LC_ALL", "GITHUB_TOKEN", "LD_PRELOAD", "HOME"];
    let expected = HookEnvironment::default().with("PATH", "x").with("LC_ALL", "x").with("HOME", "x");
    assert_eq!(HookEnvironment::passed_from(all.map(pair)), expected);
}

#[tokio::test]
async fn a_hook_in_the_background_is_not_waited_for_and_decides_nothing() {
    let stage = Stage::new();
    assert!(std::process::Command::new("mkfifo").arg(stage.path("go")).status().unwrap().success());
    let hook = json!({ "type": "command", "async": true, "command": "read x < go; echo done > ran; exit 2" });
    let hooks = stage.hooks(json!({ "PreToolUse": [{ "hooks": [hook] }] }));
    assert_eq!(hooks.permit_tool(&bash("ls")).get().await, rheon_types::HookPermission::default());
    let go = stage.path("go");
    tokio::task::spawn_blocking(move || std::fs::write(go, "now\n").unwrap()).await.unwrap();
    hooks.idle().await;
    assert_eq!(stage.read("ran"), "done\n");
}

#[tokio::test]
async fn the_background_has_room_for_so_many_and_tells_of_the_others() {
    let stage = Stage::new();
    let hooks = stage.one("PermissionDenied", "sleep 1000");
    for _ in 0..18 {
        hooks.tool_blocked(&bash("ls"), &ToolError::Denied("because".into()));
    }
    assert_eq!(
        stage.told(),
        vec![
            r#"the PermissionDenied hook "sleep 1000" was not run: 16 hooks run in the background already"#;
            2
        ]
    );
}
