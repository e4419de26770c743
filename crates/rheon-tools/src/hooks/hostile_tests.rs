//! Hostile hooks: what they print, start and request.

use std::io::Read as _;

use expect_test::expect;
use rheon_types::{Hook, Opinion};
use serde_json::{Value, json};

use crate::hooks::HookEvent;
use crate::hooks::fixtures::{Fixture, bash, call, command, trigger};

/// Waits until the writing end of the pipe is closed.
fn until_closed(mut pipe: std::fs::File) -> tokio::task::JoinHandle<()> {
    tokio::task::spawn_blocking(move || {
        pipe.read_to_end(&mut Vec::new()).unwrap();
    })
}

/// Leaves the process group, the session and the parent, keeps the pipe open, and never exits.
const DAEMON: &str = "setsid sh -c 'sh -c \"exec 3> fifo; echo up >&3; sleep 1000\" & exit 0' </dev/null >/dev/null 2>&1; sleep 1000";

#[tokio::test]
async fn a_daemon_does_not_outlive_a_dropped_hook() {
    let fixture = Fixture::new();
    let path = fixture.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let hooks = fixture.one("PreToolUse", DAEMON);
    let opened = tokio::task::spawn_blocking(move || {
        let mut pipe = std::fs::File::open(path).unwrap();
        pipe.read_exact(&mut [0; 3]).unwrap();
        pipe
    });
    let call = bash("ls");
    let pipe = tokio::select! {
        pipe = opened => pipe.unwrap(),
        permit = hooks.permit_tool(&call).get() => panic!("the hook ended by itself: {permit:?}"),
    };
    until_closed(pipe).await.unwrap();
}

#[tokio::test]
async fn a_dropped_hook_is_killed_for_every_event() {
    for event in HookEvent::ALL {
        let fixture = Fixture::new();
        let path = fixture.path("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let hooks = fixture.one(event.name(), "exec 3> fifo; sleep 1000");
        let opened = tokio::task::spawn_blocking(move || std::fs::File::open(path).unwrap());
        let pipe = tokio::select! {
            pipe = opened => pipe.unwrap(),
            said = trigger(event, &hooks) => panic!("{event} ended by itself: {said}"),
        };
        // Background hooks stop with the session.
        drop(hooks);
        until_closed(pipe).await.unwrap();
    }
}

#[tokio::test]
async fn hook_output_is_sanitized() {
    let deny = r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
    let mut rows = String::new();
    for (title, line) in [
        (
            "a screen cleared",
            r#"printf '{"systemMessage":"\\u001b[2J\\u001b]52;c;eA==\\u0007\\u202egnp"}'"#.to_owned(),
        ),
        ("a screen cleared by a failure", r"printf '\033[2J\033]0;x\007' >&2; exit 1".to_owned()),
        ("no text", r"printf '\377\376{'; exit 0".to_owned()),
        ("no text in JSON", r#"printf '{"systemMessage":"\377"}'"#.to_owned()),
        ("deep", "printf '{\"a\":'; head -c 500000 /dev/zero | tr '\\0' '['".to_owned()),
        ("two objects", format!("echo '{deny}'; echo '{deny}'")),
        ("an array", "echo '[1]'".to_owned()),
        ("wrong types", r#"echo '{"continue":"no","decision":7}'"#.to_owned()),
        ("another event", r#"echo '{"hookSpecificOutput":{"hookEventName":"Stop"}}'"#.to_owned()),
        ("stdin closed", "exec <&-; exit 0".to_owned()),
        ("a signal", "kill -TERM $$".to_owned()),
        ("a number out of range", "echo '{\"a\":1e999999}'".to_owned()),
    ] {
        let fixture = Fixture::new();
        let hooks = fixture.one("PreToolUse", &line);
        let big = bash(&"x".repeat(300_000));
        let opinion = hooks.permit_tool(&big).get().await.opinion;
        let messages = fixture.messages().join(" ").replace(&format!("{line:?}"), "HOOK");
        assert!(!messages.chars().any(|one| one.is_control() || one == '\u{202e}'), "{title}: {messages:?}");
        let said = messages.split_once(" hook ").map_or(messages.as_str(), |(_, said)| said);
        rows += &format!("{title}: {opinion:?} {said}\n");
    }
    expect![[r#"
        a screen cleared: None PreToolUse hook: \u{1b}[2J\u{1b}]52;c;eA==\u{7}\u{202e}gnp
        a screen cleared by a failure: None HOOK failed with exit code 1: \u{1b}[2J\u{1b}]0;x\u{7}
        no text: None 
        no text in JSON: None PreToolUse hook: �
        deep: None HOOK printed invalid output: recursion limit exceeded at line 1 column 132
        two objects: None HOOK printed invalid output: trailing characters at line 2 column 1
        an array: None 
        wrong types: None HOOK printed invalid output: "continue" is neither true nor false
        another event: None HOOK printed invalid output: "hookEventName" is "Stop" instead of "PreToolUse"
        stdin closed: None 
        a signal: None HOOK was killed by a signal
        a number out of range: None HOOK printed invalid output: number out of range at line 1 column 13
    "#]]
    .assert_eq(&rows);
}

#[tokio::test]
async fn of_two_hundred_conflicting_hooks_the_denial_wins() {
    let fixture = Fixture::new();
    let said = |index: usize| {
        let decision = if index == 137 { "deny" } else { "allow" };
        let output = json!({ "hookSpecificOutput": {
            "permissionDecision": decision, "permissionDecisionReason": format!("{index}"),
            "updatedInput": { "command": format!("echo {index}") },
        } });
        command(&format!("echo {index} >> runs; echo '{output}'"))
    };
    let commands: Vec<Value> = (0..200).map(said).collect();
    let hooks = fixture.hooks(json!({ "PreToolUse": [{ "hooks": commands }] }));
    let permit = hooks.permit_tool(&bash("ls")).get().await;
    assert_eq!(permit.opinion, Some(Opinion::Deny("137".into())));
    assert_eq!(fixture.read("runs").lines().count(), 200);
}

#[tokio::test]
async fn a_hook_removed_between_calls_is_reported() {
    for (on_failure, second) in [("allow", None), ("block", Some(()))] {
        let fixture = Fixture::new();
        fixture.write("check.sh", "#!/bin/sh\nexit 0");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(fixture.path("check.sh"), mode).unwrap();
        let hook = json!({ "type": "command", "command": "./check.sh", "onFailure": on_failure });
        let hooks = fixture.hooks(json!({ "PreToolUse": [{ "hooks": [hook] }] }));
        assert_eq!(hooks.permit_tool(&bash("ls")).get().await.opinion, None);
        std::fs::remove_file(fixture.path("check.sh")).unwrap();
        assert_eq!(hooks.permit_tool(&bash("ls")).get().await.opinion.map(drop), second);
        assert_eq!(fixture.messages().len(), 1);
    }
}

#[tokio::test]
async fn updated_inputs_are_bounded_and_passed_on() {
    let fixture = Fixture::new();
    let huge = r#"printf '{"hookSpecificOutput":{"updatedInput":{"command":"'; head -c 100000000 /dev/zero | tr '\0' x; printf '"}}}'"#;
    let hooks = fixture.one("PreToolUse", huge);
    let permit = hooks.permit_tool(&bash("ls")).get().await;
    assert_eq!((permit.opinion, permit.arguments), (None, None));
    assert!(fixture.messages().join("").contains("printed more than 1048576 bytes"));
    let odd = r#"echo '{"hookSpecificOutput":{"updatedInput":{"file_path":7,"nothing":{}}}}'"#;
    let hooks = fixture.one("PreToolUse", odd);
    let permit = hooks.permit_tool(&call("read", json!({ "path": "a" }))).get().await;
    assert_eq!(permit.arguments.as_deref(), Some(&json!({ "path": 7, "nothing": {} })));
}
