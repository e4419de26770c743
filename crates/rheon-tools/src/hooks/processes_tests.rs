//! Hook processes: concurrent, deduplicated, with a clean environment, and always killed.

use std::io::Read as _;

use rheon_types::{Hook, HookVerdict, ToolError};
use serde_json::json;

use crate::hooks::fixtures::{Fixture, bash, call, command, trigger};
use crate::hooks::{CommandHooks, HookContext, HookEnvironment, HookEvent, HookSettings};

#[tokio::test]
async fn hooks_run_concurrently_and_the_strictest_decision_wins() {
    let fixture = Fixture::new();
    // Each waits for the other, so that neither ends unless both run.
    let meet = |own: &str, other: &str, then: &str| {
        format!(
            "mkfifo {own} 2>/dev/null; mkfifo {other} 2>/dev/null; (echo > {own}) & read x < {other}; wait; {then}"
        )
    };
    let allow =
        r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'"#;
    let hooks = fixture.hooks(json!({ "PreToolUse": [
        { "matcher": "Bash", "hooks": [command(&meet("a", "b", "echo never >&2; exit 2")), command(&meet("b", "a", allow))] },
        { "matcher": "Edit", "hooks": [command("touch wrong")] },
    ] }));
    assert_eq!(hooks.permit_tool(&bash("ls")).get().await.verdict, Some(HookVerdict::Deny("never".into())));
    assert!(!fixture.path("wrong").exists());
}

#[tokio::test]
async fn deny_beats_defer_beats_ask_beats_allow() {
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
        let fixture = Fixture::new();
        let commands: Vec<_> = words.iter().map(|decision| word(decision)).collect();
        let hooks = fixture.hooks(json!({ "PreToolUse": [{ "hooks": commands }] }));
        rows.push(hooks.permit_tool(&bash("ls")).get().await.verdict.unwrap());
    }
    let ask = |why: &str| HookVerdict::Ask(why.into());
    assert_eq!(rows, [ask("ask"), ask("defer"), HookVerdict::Deny("deny".into()), HookVerdict::Allow]);
}

#[tokio::test]
async fn duplicate_commands_run_once() {
    let fixture = Fixture::new();
    let file = |matcher: &str| {
        let hooks = json!({ "hooks": { "PreToolUse": [{ "matcher": matcher, "hooks": [command("echo ran >> runs")] }] } });
        HookSettings::parse(&hooks.to_string(), "settings.json").unwrap()
    };
    let hooks = fixture.with_settings(HookSettings::merged([file("Bash"), file("*"), file("bash")]));
    hooks.permit_tool(&bash("ls")).get().await;
    assert_eq!(fixture.read("runs"), "ran\n");
}

#[tokio::test]
async fn a_condition_selects_calls() {
    let fixture = Fixture::new();
    let hook =
        |rule: &str| json!({ "type": "command", "if": rule, "command": format!("echo '{rule}' >> runs") });
    let hooks = fixture.hooks(json!({ "PreToolUse": [{ "hooks": [
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
        let mut runs: Vec<String> = fixture.read("runs").lines().map(str::to_owned).collect();
        runs.sort();
        rows += &format!("{} {}: {}\n", call.name, call.arguments, runs.join(", "));
        std::fs::remove_file(fixture.path("runs")).unwrap_or_default();
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

/// A fifo that a grandchild of the hook opens for writing; it closes when the grandchild exits.
fn open_fifo(fixture: &Fixture) -> std::thread::JoinHandle<()> {
    let path = fixture.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    std::thread::spawn(move || {
        let mut pipe = std::fs::File::open(path).unwrap();
        let mut rest = String::new();
        pipe.read_to_string(&mut rest).unwrap();
    })
}

/// Starts a grandchild that keeps the fifo open forever, and waits for it.
const GRANDCHILD: &str = "sh -c 'exec 3> fifo; sleep 1000' & wait";

#[tokio::test]
async fn a_hook_that_times_out_is_killed_with_its_children() {
    let fixture = Fixture::new();
    let grandchild = open_fifo(&fixture);
    let hook = json!({ "type": "command", "command": GRANDCHILD, "timeout": 3, "onFailure": "block" });
    let hooks = fixture.hooks(json!({ "PreToolUse": [{ "hooks": [hook] }] }));
    let opinion = hooks.permit_tool(&bash("ls")).get().await.verdict;
    assert_eq!(opinion, Some(HookVerdict::Deny("a required hook timed out after 3 s".into())));
    // On a very slow machine the grandchild may never open it; then there is nothing to wait for.
    drop(std::fs::File::options().read(true).write(true).open(fixture.path("fifo")).unwrap());
    tokio::task::spawn_blocking(|| grandchild.join().unwrap()).await.unwrap();
}

#[tokio::test]
async fn a_dropped_hook_is_killed_with_its_children() {
    let fixture = Fixture::new();
    let path = fixture.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let hooks = fixture.one("PreToolUse", GRANDCHILD);
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
async fn large_output_and_input_are_bounded() {
    let fixture = Fixture::new();
    let flood = "head -c 10000000 /dev/zero | tr '\\0' x";
    let hooks = fixture.one("UserPromptSubmit", &format!("{flood}; {flood} >&2"));
    let text = trigger(HookEvent::UserPromptSubmit, &hooks).await;
    assert_eq!(text, format!("Add({:?})", "x".repeat(10_000)));
    let hook = json!({ "type": "command", "command": format!("printf '{{'; {flood}"), "onFailure": "block" });
    let hooks = fixture.hooks(json!({ "PreToolUse": [{ "hooks": [hook] }] }));
    // The hook does not read its large input either.
    let opinion = hooks.permit_tool(&bash(&"y".repeat(10_000_000))).get().await.verdict;
    let said = "a required hook printed more than 1048576 bytes";
    assert_eq!(opinion, Some(HookVerdict::Deny(said.into())));
}

#[tokio::test]
async fn processes_a_hook_leaves_running_do_not_block() {
    let fixture = Fixture::new();
    let hooks = fixture.one("UserPromptSubmit", "sleep 5 & echo noted");
    assert_eq!(trigger(HookEvent::UserPromptSubmit, &hooks).await, "Add(\"noted\")");
}

#[tokio::test]
async fn processes_a_hook_leaves_running_end_with_the_run() {
    let fixture = Fixture::new();
    let reader = open_fifo(&fixture);
    let hooks = fixture.one(
        "UserPromptSubmit",
        "setsid sh -c 'exec 3> fifo; : > ready; sleep 1000' & until [ -e ready ]; do :; done",
    );
    trigger(HookEvent::UserPromptSubmit, &hooks).await;
    // As after a run.
    hooks.dispatcher().end_left();
    tokio::task::spawn_blocking(|| reader.join().unwrap()).await.unwrap();
}

#[tokio::test]
async fn a_hook_that_cannot_start_is_reported_once_and_blocks_if_required() {
    let fixture = Fixture::new();
    fixture.write("no_execute_bit", "#!/bin/sh\n");
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
            let hooks = fixture.hooks(json!({ "PreToolUse": [{ "hooks": [hook] }] }));
            let first = hooks.permit_tool(&bash("ls")).get().await.verdict;
            let second = hooks.permit_tool(&bash("ls")).get().await.verdict;
            assert_eq!(first, second);
            assert_eq!(first.is_some(), on_failure == "block");
            rows += &format!("{on_failure}: {} message\n", fixture.messages().len());
        }
    }
    assert_eq!(rows, "allow: 1 message\nblock: 1 message\n".repeat(4));
}

#[tokio::test]
async fn a_hook_that_crashes_has_failed() {
    for (on_failure, opinion) in
        [("allow", None), ("block", Some(HookVerdict::Deny("a required hook was killed by a signal".into())))]
    {
        let fixture = Fixture::new();
        let hook = json!({ "type": "command", "command": "kill -9 $$", "onFailure": on_failure });
        let hooks = fixture.hooks(json!({ "PreToolUse": [{ "hooks": [hook] }] }));
        assert_eq!(hooks.permit_tool(&bash("ls")).get().await.verdict, opinion);
        assert_eq!(fixture.messages(), [r#"the PreToolUse hook "kill -9 $$" was killed by a signal"#]);
    }
}

#[tokio::test]
async fn with_arguments_there_is_no_shell_and_the_environment_is_rebuilt() {
    let fixture = Fixture::new();
    let script = "printf '%s|' \"$@\" > seen; env | sort >> seen";
    let hooks = fixture.hooks(json!({ "PreToolUse": [{ "hooks": [{
        "type": "command", "command": "/bin/sh",
        "args": ["-c", script, "name", "$(touch evil)", "a b", "${CLAUDE_PROJECT_DIR}/x", "$RHEON_PROJECT_DIR"],
    }] }] }));
    hooks.permit_tool(&bash("ls")).get().await;
    let seen = fixture.plain(&fixture.read("seen"));
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
    assert!(!fixture.path("evil").exists());
}

#[tokio::test]
async fn hooks_of_the_user_get_the_users_environment_and_those_in_the_sandbox_no_secrets() {
    let fixture = Fixture::new();
    let variables =
        ["OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "LC_ALL", "GITHUB_TOKEN", "HOME"].map(str::to_owned);
    let environment = variables.into_iter().map(|name| (name, "x".to_owned()));
    let environment = HookEnvironment::new(environment).with("PATH", "/usr/local/bin:/usr/bin:/bin");
    let context = HookContext { environment, ..fixture.context() };
    let mut seen = Vec::new();
    for is_sandboxed in [false, true] {
        let hook = json!({ "type": "command", "command": "env > seen", "sandbox": is_sandboxed });
        let settings = json!({ "hooks": { "PreToolUse": [{ "hooks": [hook] }] } }).to_string();
        let settings = HookSettings::parse(&settings, "settings.json").unwrap();
        // There is no sandbox here: only the environment shows where the hook belongs.
        CommandHooks::new(settings, context.clone()).permit_tool(&bash("ls")).get().await;
        let mut names: Vec<String> = fixture
            .read("seen")
            .lines()
            .filter_map(|line| Some(line.strip_suffix("=x")?.to_owned()))
            .collect();
        names.sort();
        seen.push(names.join(" "));
    }
    assert_eq!(seen, ["AWS_SECRET_ACCESS_KEY GITHUB_TOKEN HOME LC_ALL OPENAI_API_KEY", "HOME LC_ALL"]);
}

#[tokio::test]
async fn a_background_hook_decides_nothing() {
    let fixture = Fixture::new();
    assert!(std::process::Command::new("mkfifo").arg(fixture.path("go")).status().unwrap().success());
    let hook = json!({ "type": "command", "async": true, "command": "read x < go; echo done > ran; exit 2" });
    let hooks = fixture.hooks(json!({ "PreToolUse": [{ "hooks": [hook] }] }));
    assert_eq!(hooks.permit_tool(&bash("ls")).get().await, rheon_types::HookPermission::default());
    let go = fixture.path("go");
    tokio::task::spawn_blocking(move || std::fs::write(go, "now\n").unwrap()).await.unwrap();
    hooks.idle().await;
    assert_eq!(fixture.read("ran"), "done\n");
}

#[tokio::test]
async fn background_hooks_are_limited_and_the_rest_are_reported() {
    let fixture = Fixture::new();
    let hooks = fixture.one("PermissionDenied", "sleep 1000");
    for _ in 0..18 {
        hooks.tool_blocked(&bash("ls"), &ToolError::Denied("because".into()));
    }
    assert_eq!(
        fixture.messages(),
        vec![
            r#"the PermissionDenied hook "sleep 1000" was not run: 16 hooks are already running in the background"#;
            2
        ]
    );
}
