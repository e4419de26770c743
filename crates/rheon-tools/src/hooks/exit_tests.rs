//! Every event with every exit code: what comes of it, and what the user is told.

use expect_test::expect;
use serde_json::json;

use crate::hooks::HookEvent;
use crate::hooks::fixtures::{Fixture, trigger};

async fn table(line: &str, more: serde_json::Value) -> String {
    let mut rows = String::new();
    for event in HookEvent::ALL {
        let fixture = Fixture::new();
        let mut hook = json!({ "type": "command", "command": line });
        hook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let hooks = fixture.hooks(json!({ event.name(): [{ "hooks": [hook] }] }));
        let outcome = trigger(event, &hooks).await;
        let messages = fixture.messages().join("; ");
        rows += &format!("{event}: {outcome}\n");
        if !messages.is_empty() {
            rows += &format!("    told: {messages}\n");
        }
    }
    rows
}

#[tokio::test]
async fn exit_code_0_allows_and_plain_text_becomes_context() {
    expect![[r#"
        SessionStart: context "said"
        SessionEnd: nothing
        UserPromptSubmit: Add("said")
        PreToolUse: None
        PermissionRequest: None
        PermissionDenied: told
        PostToolUse: []
        PostToolUseFailure: []
        PreCompact: nothing
        PostCompact: nothing
        SubagentStart: nothing
        SubagentStop: nothing
        Stop: Continue
        Notification: nothing
    "#]]
    .assert_eq(&table("echo said", json!({})).await);
}

#[tokio::test]
async fn exit_code_2_blocks_events_that_can_be_blocked() {
    expect![[r#"
        SessionStart: nothing
            told: SessionStart hook: no
        SessionEnd: nothing
            told: SessionEnd hook: no
        UserPromptSubmit: Reject("no")
        PreToolUse: Some(Deny("no"))
        PermissionRequest: None
            told: PermissionRequest hook: no
        PermissionDenied: told
            told: PermissionDenied hook: no
        PostToolUse: ["A PostToolUse hook reported a problem: no"]
        PostToolUseFailure: ["A PostToolUseFailure hook reported a problem: no"]
        PreCompact: Block("no")
        PostCompact: nothing
            told: PostCompact hook: no
        SubagentStart: nothing
            told: SubagentStart hook: no
        SubagentStop: Block("no")
        Stop: Veto("no")
        Notification: nothing
            told: Notification hook: no
    "#]]
    .assert_eq(&table("echo '{\"decision\":\"approve\"}'; echo no >&2; exit 2", json!({})).await);
}

#[tokio::test]
async fn any_other_exit_code_is_reported_and_allows() {
    expect![[r#"
        SessionStart: nothing
            told: the SessionStart hook "echo broken >&2; exit 1" failed with exit code 1: broken
        SessionEnd: nothing
            told: the SessionEnd hook "echo broken >&2; exit 1" failed with exit code 1: broken
        UserPromptSubmit: Pass
            told: the UserPromptSubmit hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PreToolUse: None
            told: the PreToolUse hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PermissionRequest: None
            told: the PermissionRequest hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PermissionDenied: told
            told: the PermissionDenied hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PostToolUse: []
            told: the PostToolUse hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PostToolUseFailure: []
            told: the PostToolUseFailure hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PreCompact: nothing
            told: the PreCompact hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PostCompact: nothing
            told: the PostCompact hook "echo broken >&2; exit 1" failed with exit code 1: broken
        SubagentStart: nothing
            told: the SubagentStart hook "echo broken >&2; exit 1" failed with exit code 1: broken
        SubagentStop: nothing
            told: the SubagentStop hook "echo broken >&2; exit 1" failed with exit code 1: broken
        Stop: Continue
            told: the Stop hook "echo broken >&2; exit 1" failed with exit code 1: broken
        Notification: nothing
            told: the Notification hook "echo broken >&2; exit 1" failed with exit code 1: broken
    "#]]
    .assert_eq(&table("echo broken >&2; exit 1", json!({})).await);
}

#[tokio::test]
async fn a_required_hook_blocks_when_it_fails() {
    expect![[r#"
        SessionStart: Block("a required hook failed with exit code 1: broken")
            told: the SessionStart hook "echo broken >&2; exit 1" failed with exit code 1: broken
        SessionEnd: Block("a required hook failed with exit code 1: broken")
            told: the SessionEnd hook "echo broken >&2; exit 1" failed with exit code 1: broken
        UserPromptSubmit: Reject("a required hook failed with exit code 1: broken")
            told: the UserPromptSubmit hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PreToolUse: Some(Deny("a required hook failed with exit code 1: broken"))
            told: the PreToolUse hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PermissionRequest: Some((Deny, Some("a required hook failed with exit code 1: broken")))
            told: the PermissionRequest hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PermissionDenied: told
            told: the PermissionDenied hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PostToolUse: ["A PostToolUse hook reported a problem: a required hook failed with exit code 1: broken"]
            told: the PostToolUse hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PostToolUseFailure: ["A PostToolUseFailure hook reported a problem: a required hook failed with exit code 1: broken"]
            told: the PostToolUseFailure hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PreCompact: Block("a required hook failed with exit code 1: broken")
            told: the PreCompact hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PostCompact: Block("a required hook failed with exit code 1: broken")
            told: the PostCompact hook "echo broken >&2; exit 1" failed with exit code 1: broken
        SubagentStart: Block("a required hook failed with exit code 1: broken")
            told: the SubagentStart hook "echo broken >&2; exit 1" failed with exit code 1: broken
        SubagentStop: Block("a required hook failed with exit code 1: broken")
            told: the SubagentStop hook "echo broken >&2; exit 1" failed with exit code 1: broken
        Stop: Veto("a required hook failed with exit code 1: broken")
            told: the Stop hook "echo broken >&2; exit 1" failed with exit code 1: broken
        Notification: Block("a required hook failed with exit code 1: broken")
            told: the Notification hook "echo broken >&2; exit 1" failed with exit code 1: broken
    "#]].assert_eq(&table("echo broken >&2; exit 1", json!({ "onFailure": "block" })).await);
}

#[tokio::test]
async fn a_block_decision_blocks_with_its_reason() {
    let line = r#"echo ' {"decision":"block","reason":"tests fail","systemMessage":"look here"}'"#;
    expect![[r#"
        SessionStart: Block("tests fail")
            told: SessionStart hook: look here
        SessionEnd: Block("tests fail")
            told: SessionEnd hook: look here
        UserPromptSubmit: Reject("tests fail")
            told: UserPromptSubmit hook: look here
        PreToolUse: Some(Deny("tests fail"))
            told: PreToolUse hook: look here
        PermissionRequest: Some((Deny, Some("tests fail")))
            told: PermissionRequest hook: look here
        PermissionDenied: told
            told: PermissionDenied hook: look here
        PostToolUse: ["A PostToolUse hook reported a problem: tests fail"]
            told: PostToolUse hook: look here
        PostToolUseFailure: ["A PostToolUseFailure hook reported a problem: tests fail"]
            told: PostToolUseFailure hook: look here
        PreCompact: Block("tests fail")
            told: PreCompact hook: look here
        PostCompact: Block("tests fail")
            told: PostCompact hook: look here
        SubagentStart: Block("tests fail")
            told: SubagentStart hook: look here
        SubagentStop: Block("tests fail")
            told: SubagentStop hook: look here
        Stop: Veto("tests fail")
            told: Stop hook: look here
        Notification: Block("tests fail")
            told: Notification hook: look here
    "#]]
    .assert_eq(&table(line, json!({})).await);
}

#[tokio::test]
async fn invalid_output_is_a_failure() {
    let mut rows = String::new();
    for output in [
        "{",
        "{\"decision\":\"perhaps\"}",
        "{\"continue\":\"no\"}",
        "{\"hookSpecificOutput\":{\"hookEventName\":\"Stop\"}}",
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"dney\"}}",
        "{\"hookSpecificOutput\":[]}",
    ] {
        for on_failure in ["allow", "block"] {
            let fixture = Fixture::new();
            fixture.write("output", output);
            let hook = json!({ "type": "command", "command": "cat output", "onFailure": on_failure });
            let hooks = fixture.hooks(json!({ "PreToolUse": [{ "hooks": [hook] }] }));
            let outcome = trigger(HookEvent::PreToolUse, &hooks).await;
            rows +=
                &format!("{output} {on_failure}: {outcome}\n    told: {}\n", fixture.messages().join("; "));
        }
    }
    expect![[r#"
        { allow: None
            told: the PreToolUse hook "cat output" printed invalid output: EOF while parsing an object at line 1 column 1
        { block: Some(Deny("a required hook printed invalid output: EOF while parsing an object at line 1 column 1"))
            told: the PreToolUse hook "cat output" printed invalid output: EOF while parsing an object at line 1 column 1
        {"decision":"perhaps"} allow: None
            told: the PreToolUse hook "cat output" printed invalid output: "decision" is "perhaps" instead of "block"
        {"decision":"perhaps"} block: Some(Deny("a required hook printed invalid output: \"decision\" is \"perhaps\" instead of \"block\""))
            told: the PreToolUse hook "cat output" printed invalid output: "decision" is "perhaps" instead of "block"
        {"continue":"no"} allow: None
            told: the PreToolUse hook "cat output" printed invalid output: "continue" is neither true nor false
        {"continue":"no"} block: Some(Deny("a required hook printed invalid output: \"continue\" is neither true nor false"))
            told: the PreToolUse hook "cat output" printed invalid output: "continue" is neither true nor false
        {"hookSpecificOutput":{"hookEventName":"Stop"}} allow: None
            told: the PreToolUse hook "cat output" printed invalid output: "hookEventName" is "Stop" instead of "PreToolUse"
        {"hookSpecificOutput":{"hookEventName":"Stop"}} block: Some(Deny("a required hook printed invalid output: \"hookEventName\" is \"Stop\" instead of \"PreToolUse\""))
            told: the PreToolUse hook "cat output" printed invalid output: "hookEventName" is "Stop" instead of "PreToolUse"
        {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"dney"}} allow: None
            told: the PreToolUse hook "cat output" printed invalid output: "permissionDecision" has the unknown value "dney"
        {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"dney"}} block: Some(Deny("a required hook printed invalid output: \"permissionDecision\" has the unknown value \"dney\""))
            told: the PreToolUse hook "cat output" printed invalid output: "permissionDecision" has the unknown value "dney"
        {"hookSpecificOutput":[]} allow: None
            told: the PreToolUse hook "cat output" printed invalid output: "hookSpecificOutput" is not an object
        {"hookSpecificOutput":[]} block: Some(Deny("a required hook printed invalid output: \"hookSpecificOutput\" is not an object"))
            told: the PreToolUse hook "cat output" printed invalid output: "hookSpecificOutput" is not an object
    "#]].assert_eq(&rows);
}
