//! Every event with every exit code: the outcome, and the message to the user.

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
            rows += &format!("    message: {messages}\n");
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
        PermissionDenied: reported
        PostToolUse: []
        PostToolUseFailure: []
        PreCompact: nothing
        PostCompact: nothing
        SubagentStart: nothing
        SubagentStop: nothing
        Stop: Continue
        StopFailure: nothing
        Notification: reported
    "#]]
    .assert_eq(&table("echo said", json!({})).await);
}

#[tokio::test]
async fn exit_code_2_blocks_events_that_can_be_blocked() {
    expect![[r#"
        SessionStart: nothing
            message: SessionStart hook: no
        SessionEnd: nothing
            message: SessionEnd hook: no
        UserPromptSubmit: Reject("no")
        PreToolUse: Some(Deny("no"))
        PermissionRequest: None
            message: PermissionRequest hook: no
        PermissionDenied: reported
            message: PermissionDenied hook: no
        PostToolUse: ["A PostToolUse hook reported a problem: no"]
        PostToolUseFailure: ["A PostToolUseFailure hook reported a problem: no"]
        PreCompact: Block("no")
        PostCompact: nothing
            message: PostCompact hook: no
        SubagentStart: nothing
            message: SubagentStart hook: no
        SubagentStop: Block("no")
        Stop: Veto("no")
        StopFailure: nothing
            message: StopFailure hook: no
        Notification: reported
            message: Notification hook: no
    "#]]
    .assert_eq(&table("echo '{\"decision\":\"approve\"}'; echo no >&2; exit 2", json!({})).await);
}

#[tokio::test]
async fn any_other_exit_code_is_reported_and_allows() {
    expect![[r#"
        SessionStart: nothing
            message: the SessionStart hook "echo broken >&2; exit 1" failed with exit code 1: broken
        SessionEnd: nothing
            message: the SessionEnd hook "echo broken >&2; exit 1" failed with exit code 1: broken
        UserPromptSubmit: Pass
            message: the UserPromptSubmit hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PreToolUse: None
            message: the PreToolUse hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PermissionRequest: None
            message: the PermissionRequest hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PermissionDenied: reported
            message: the PermissionDenied hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PostToolUse: []
            message: the PostToolUse hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PostToolUseFailure: []
            message: the PostToolUseFailure hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PreCompact: nothing
            message: the PreCompact hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PostCompact: nothing
            message: the PostCompact hook "echo broken >&2; exit 1" failed with exit code 1: broken
        SubagentStart: nothing
            message: the SubagentStart hook "echo broken >&2; exit 1" failed with exit code 1: broken
        SubagentStop: nothing
            message: the SubagentStop hook "echo broken >&2; exit 1" failed with exit code 1: broken
        Stop: Continue
            message: the Stop hook "echo broken >&2; exit 1" failed with exit code 1: broken
        StopFailure: nothing
            message: the StopFailure hook "echo broken >&2; exit 1" failed with exit code 1: broken
        Notification: reported
            message: the Notification hook "echo broken >&2; exit 1" failed with exit code 1: broken
    "#]]
    .assert_eq(&table("echo broken >&2; exit 1", json!({})).await);
}

#[tokio::test]
async fn a_required_hook_blocks_when_it_fails() {
    expect![[r#"
        SessionStart: Block("a required hook failed with exit code 1: broken")
            message: the SessionStart hook "echo broken >&2; exit 1" failed with exit code 1: broken
        SessionEnd: Block("a required hook failed with exit code 1: broken")
            message: the SessionEnd hook "echo broken >&2; exit 1" failed with exit code 1: broken
        UserPromptSubmit: Reject("a required hook failed with exit code 1: broken")
            message: the UserPromptSubmit hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PreToolUse: Some(Deny("a required hook failed with exit code 1: broken"))
            message: the PreToolUse hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PermissionRequest: Some((Deny, Some("a required hook failed with exit code 1: broken")))
            message: the PermissionRequest hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PermissionDenied: reported
            message: the PermissionDenied hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PostToolUse: ["A PostToolUse hook reported a problem: a required hook failed with exit code 1: broken"]
            message: the PostToolUse hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PostToolUseFailure: ["A PostToolUseFailure hook reported a problem: a required hook failed with exit code 1: broken"]
            message: the PostToolUseFailure hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PreCompact: Block("a required hook failed with exit code 1: broken")
            message: the PreCompact hook "echo broken >&2; exit 1" failed with exit code 1: broken
        PostCompact: Block("a required hook failed with exit code 1: broken")
            message: the PostCompact hook "echo broken >&2; exit 1" failed with exit code 1: broken
        SubagentStart: Block("a required hook failed with exit code 1: broken")
            message: the SubagentStart hook "echo broken >&2; exit 1" failed with exit code 1: broken
        SubagentStop: Block("a required hook failed with exit code 1: broken")
            message: the SubagentStop hook "echo broken >&2; exit 1" failed with exit code 1: broken
        Stop: Veto("a required hook failed with exit code 1: broken")
            message: the Stop hook "echo broken >&2; exit 1" failed with exit code 1: broken
        StopFailure: Block("a required hook failed with exit code 1: broken")
            message: the StopFailure hook "echo broken >&2; exit 1" failed with exit code 1: broken
        Notification: reported
            message: the Notification hook "echo broken >&2; exit 1" failed with exit code 1: broken
    "#]].assert_eq(&table("echo broken >&2; exit 1", json!({ "onFailure": "block" })).await);
}

#[tokio::test]
async fn a_block_decision_blocks_with_its_reason() {
    let line = r#"echo ' {"decision":"block","reason":"tests fail","systemMessage":"look here"}'"#;
    expect![[r#"
        SessionStart: Block("tests fail")
            message: SessionStart hook: look here
        SessionEnd: Block("tests fail")
            message: SessionEnd hook: look here
        UserPromptSubmit: Reject("tests fail")
            message: UserPromptSubmit hook: look here
        PreToolUse: Some(Deny("tests fail"))
            message: PreToolUse hook: look here
        PermissionRequest: Some((Deny, Some("tests fail")))
            message: PermissionRequest hook: look here
        PermissionDenied: reported
            message: PermissionDenied hook: look here
        PostToolUse: ["A PostToolUse hook reported a problem: tests fail"]
            message: PostToolUse hook: look here
        PostToolUseFailure: ["A PostToolUseFailure hook reported a problem: tests fail"]
            message: PostToolUseFailure hook: look here
        PreCompact: Block("tests fail")
            message: PreCompact hook: look here
        PostCompact: Block("tests fail")
            message: PostCompact hook: look here
        SubagentStart: Block("tests fail")
            message: SubagentStart hook: look here
        SubagentStop: Block("tests fail")
            message: SubagentStop hook: look here
        Stop: Veto("tests fail")
            message: Stop hook: look here
        StopFailure: Block("tests fail")
            message: StopFailure hook: look here
        Notification: reported
            message: Notification hook: look here
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
            rows += &format!(
                "{output} {on_failure}: {outcome}\n    message: {}\n",
                fixture.messages().join("; ")
            );
        }
    }
    expect![[r#"
        { allow: None
            message: the PreToolUse hook "cat output" printed invalid output: EOF while parsing an object at line 1 column 1
        { block: Some(Deny("a required hook printed invalid output: EOF while parsing an object at line 1 column 1"))
            message: the PreToolUse hook "cat output" printed invalid output: EOF while parsing an object at line 1 column 1
        {"decision":"perhaps"} allow: None
            message: the PreToolUse hook "cat output" printed invalid output: "decision" is "perhaps" instead of "block"
        {"decision":"perhaps"} block: Some(Deny("a required hook printed invalid output: \"decision\" is \"perhaps\" instead of \"block\""))
            message: the PreToolUse hook "cat output" printed invalid output: "decision" is "perhaps" instead of "block"
        {"continue":"no"} allow: None
            message: the PreToolUse hook "cat output" printed invalid output: "continue" is neither true nor false
        {"continue":"no"} block: Some(Deny("a required hook printed invalid output: \"continue\" is neither true nor false"))
            message: the PreToolUse hook "cat output" printed invalid output: "continue" is neither true nor false
        {"hookSpecificOutput":{"hookEventName":"Stop"}} allow: None
            message: the PreToolUse hook "cat output" printed invalid output: "hookEventName" is "Stop" instead of "PreToolUse"
        {"hookSpecificOutput":{"hookEventName":"Stop"}} block: Some(Deny("a required hook printed invalid output: \"hookEventName\" is \"Stop\" instead of \"PreToolUse\""))
            message: the PreToolUse hook "cat output" printed invalid output: "hookEventName" is "Stop" instead of "PreToolUse"
        {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"dney"}} allow: None
            message: the PreToolUse hook "cat output" printed invalid output: "permissionDecision" has the unknown value "dney"
        {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"dney"}} block: Some(Deny("a required hook printed invalid output: \"permissionDecision\" has the unknown value \"dney\""))
            message: the PreToolUse hook "cat output" printed invalid output: "permissionDecision" has the unknown value "dney"
        {"hookSpecificOutput":[]} allow: None
            message: the PreToolUse hook "cat output" printed invalid output: "hookSpecificOutput" is not an object
        {"hookSpecificOutput":[]} block: Some(Deny("a required hook printed invalid output: \"hookSpecificOutput\" is not an object"))
            message: the PreToolUse hook "cat output" printed invalid output: "hookSpecificOutput" is not an object
    "#]].assert_eq(&rows);
}
