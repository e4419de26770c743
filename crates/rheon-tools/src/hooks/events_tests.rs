//! What hooks receive at each event, and what they can change.

use expect_test::expect;
use rheon_types::{Content, FilterVerdict, Hook, InputFilter, Message, Opinion, Timestamp, ToolResult};
use serde_json::{Value, json};

use crate::hooks::HookEvent;
use crate::hooks::fixtures::{Fixture, bash, call, command, question, trigger};

#[tokio::test]
async fn hooks_receive_all_fields_of_the_protocol() {
    let mut messages = String::new();
    for event in HookEvent::ALL {
        let fixture = Fixture::new();
        trigger(event, &fixture.one(event.name(), "cat > input.json")).await;
        messages += &fixture.plain(&fixture.read("input.json"));
    }
    expect![[r#"
        {"cwd":"PROJECT","hook_event_name":"SessionStart","permission_mode":"default","session_id":"s","source":"startup","transcript_path":null}
        {"cwd":"PROJECT","hook_event_name":"SessionEnd","permission_mode":"default","reason":"other","session_id":"s","transcript_path":null}
        {"cwd":"PROJECT","hook_event_name":"UserPromptSubmit","permission_mode":"default","prompt":"do it","session_id":"s","transcript_path":null}
        {"cwd":"PROJECT","hook_event_name":"PreToolUse","permission_mode":"default","session_id":"s","tool_input":{"command":"npm test"},"tool_name":"Bash","tool_use_id":"call-1","transcript_path":null}
        {"cwd":"PROJECT","hook_event_name":"PermissionRequest","permission_mode":"default","permission_suggestions":[{"behavior":"allow","destination":"localSettings","rules":[{"ruleContent":"npm test *","toolName":"Bash"}],"type":"addRules"}],"session_id":"s","tool_input":{"command":"npm test"},"tool_name":"Bash","transcript_path":null}
        {"cwd":"PROJECT","hook_event_name":"PermissionDenied","permission_mode":"default","reason":"because","session_id":"s","tool_input":{"command":"npm test"},"tool_name":"Bash","tool_use_id":"call-1","transcript_path":null}
        {"cwd":"PROJECT","duration_ms":null,"hook_event_name":"PostToolUse","permission_mode":"default","session_id":"s","tool_input":{"command":"npm test"},"tool_name":"Bash","tool_response":{"interrupted":false,"isImage":false,"stderr":"","stdout":"fine"},"tool_use_id":"call-1","transcript_path":null}
        {"cwd":"PROJECT","duration_ms":null,"error":"bad","hook_event_name":"PostToolUseFailure","is_interrupt":false,"permission_mode":"default","session_id":"s","tool_input":{"command":"npm test"},"tool_name":"Bash","tool_use_id":"call-1","transcript_path":null}
        {"custom_instructions":"","cwd":"PROJECT","hook_event_name":"PreCompact","permission_mode":"default","session_id":"s","transcript_path":null,"trigger":"auto"}
        {"compact_summary":"short","cwd":"PROJECT","hook_event_name":"PostCompact","permission_mode":"default","session_id":"s","transcript_path":null,"trigger":"manual"}
        {"agent_id":"a1","agent_type":"Explore","cwd":"PROJECT","hook_event_name":"SubagentStart","permission_mode":"default","session_id":"s","transcript_path":null}
        {"agent_id":"a1","agent_type":"Explore","cwd":"PROJECT","hook_event_name":"SubagentStop","last_assistant_message":"found it","permission_mode":"default","session_id":"s","stop_hook_active":false,"transcript_path":null}
        {"cwd":"PROJECT","hook_event_name":"Stop","last_assistant_message":"","permission_mode":"default","session_id":"s","stop_hook_active":true,"transcript_path":null}
        {"cwd":"PROJECT","hook_event_name":"Notification","message":"waiting","notification_type":"idle_prompt","permission_mode":"default","session_id":"s","title":"Rheon","transcript_path":null}
    "#]].assert_eq(&messages);
}

/// A hook for `event` that prints `output`.
fn printing(fixture: &Fixture, event: &str, output: &Value) -> crate::hooks::CommandHooks {
    fixture.write("output", &output.to_string());
    fixture.one(event, "cat output")
}

fn specific(event: &str, fields: Value) -> Value {
    let mut specific = json!({ "hookEventName": event });
    specific.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({ "hookSpecificOutput": specific })
}

#[tokio::test]
async fn a_hook_before_a_call_allows_asks_defers_or_denies_it() {
    let mut rows = String::new();
    for decision in ["allow", "ask", "defer", "deny"] {
        let fixture = Fixture::new();
        let fields = json!({ "permissionDecision": decision, "permissionDecisionReason": "so it is" });
        let hooks = printing(&fixture, "PreToolUse", &specific("PreToolUse", fields));
        rows += &format!("{decision}: {}\n", trigger(HookEvent::PreToolUse, &hooks).await);
    }
    for decision in ["approve", "block"] {
        let fixture = Fixture::new();
        let hooks = printing(&fixture, "PreToolUse", &json!({ "decision": decision, "reason": "as before" }));
        rows += &format!("{decision}: {}\n", trigger(HookEvent::PreToolUse, &hooks).await);
    }
    expect![[r#"
        allow: Some(Allow)
        ask: Some(Ask("so it is"))
        defer: Some(Ask("so it is"))
        deny: Some(Deny("so it is"))
        approve: Some(Allow)
        block: Some(Deny("as before"))
    "#]]
    .assert_eq(&rows);
}

#[tokio::test]
async fn an_updated_input_is_converted_to_our_arguments() {
    let fixture = Fixture::new();
    let fields = json!({
        "updatedInput": { "file_path": fixture.path("a.rs").to_str().unwrap(), "old_string": "x", "new_string": "z" },
        "additionalContext": "z is better",
    });
    let hooks = printing(&fixture, "PreToolUse", &specific("PreToolUse", fields));
    let edit = call("edit", json!({ "path": "a.rs", "edits": [{ "old_string": "x", "new_string": "y" }] }));
    let permit = hooks.permit_tool(&edit).get().await;
    assert_eq!(
        permit.arguments.as_deref(),
        Some(&json!({ "path": "a.rs", "edits": [{ "old_string": "x", "new_string": "z" }] }))
    );
    assert_eq!((permit.opinion, permit.context), (None, vec!["z is better".to_owned()]));
}

#[tokio::test]
async fn a_hook_answers_an_approval_and_may_change_arguments() {
    let mut rows = String::new();
    for decision in [
        json!({ "behavior": "allow" }),
        json!({ "behavior": "deny", "message": "not today" }),
        json!({ "behavior": "allow", "updatedInput": { "command": "npm test" } }),
        json!({ "behavior": "allow", "updatedInput": { "command": "rm -rf ." } }),
        json!({ "behavior": "allow", "updatedPermissions": [{ "type": "addRules" }] }),
        json!({ "behavior": "maybe" }),
        json!({}),
    ] {
        let fixture = Fixture::new();
        let output = specific("PermissionRequest", json!({ "decision": decision }));
        let hooks = printing(&fixture, "PermissionRequest", &output);
        let outcome = trigger(HookEvent::PermissionRequest, &hooks).await;
        rows += &format!("{decision}: {outcome}\n    message: {}\n", fixture.messages().join("; "));
    }
    expect![[r#"
        {"behavior":"allow"}: Some((Allow, None))
            message: 
        {"behavior":"deny","message":"not today"}: Some((Deny, Some("not today")))
            message: 
        {"behavior":"allow","updatedInput":{"command":"npm test"}}: Some((Allow, None))
            message: 
        {"behavior":"allow","updatedInput":{"command":"rm -rf ."}}: Some((Allow, None)) with {"command":"rm -rf ."}
            message: 
        {"behavior":"allow","updatedPermissions":[{"type":"addRules"}]}: Some((Allow, None))
            message: the PermissionRequest hook "cat output" asked to change permission rules, which only the user can do; the rest of its reply is used
        {"behavior":"maybe"}: None
            message: the PermissionRequest hook "cat output" printed invalid output: "behavior" is "maybe" instead of "allow" or "deny"
        {}: None
            message: the PermissionRequest hook "cat output" printed invalid output: "behavior" is missing
    "#]].assert_eq(&rows);
}

#[tokio::test]
async fn a_hook_after_a_call_changes_what_the_model_reads() {
    let fixture = Fixture::new();
    let fields = json!({ "updatedToolOutput": "redacted", "additionalContext": "ask for more" });
    let hooks = printing(&fixture, "PostToolUse", &specific("PostToolUse", fields));
    let amendment = hooks.after_tool(&bash("env"), &ToolResult::text("KEY=1"), false).get().await;
    assert_eq!(amendment.content, Some(vec![Content::text("redacted")]));
    assert_eq!(amendment.context, ["ask for more"]);
}

#[tokio::test]
async fn session_start_runs_once_and_its_context_joins_the_first_prompt() {
    let fixture = Fixture::new();
    let hooks = fixture.hooks(json!({
        "SessionStart": [{ "matcher": "startup", "hooks": [command("echo once >> starts; echo the branch is main")] }],
        "UserPromptSubmit": [{ "hooks": [command("grep -q secret && { echo no secrets >&2; exit 2; }; echo noted")] }],
    }));
    let said = |text: &str| Message::user(text, Timestamp::default());
    let mut verdicts = Vec::new();
    for text in ["my secret", "go on", "again"] {
        verdicts.push(hooks.check(&said(text)).get().await);
    }
    assert_eq!(
        verdicts,
        [
            FilterVerdict::Reject("no secrets".into()),
            FilterVerdict::Add("the branch is main\n\nnoted".into()),
            FilterVerdict::Add("noted".into()),
        ]
    );
    assert_eq!(fixture.read("starts"), "once\n");
}

#[tokio::test]
async fn continue_false_denies_all_calls_until_the_run_stops() {
    let fixture = Fixture::new();
    let output = json!({ "continue": false, "stopReason": "budget is spent" });
    let hooks = printing(&fixture, "PreToolUse", &output);
    let deny = || Some(Opinion::Deny("budget is spent".into()));
    assert_eq!(hooks.permit_tool(&bash("ls")).get().await.opinion, deny());
    assert_eq!(hooks.permit_tool(&bash("pwd")).get().await.opinion, deny());
    let history = rheon_types::History::new();
    assert_eq!(hooks.before_turn(&history, 1).get().await, rheon_types::Flow::Veto("budget is spent".into()));
    assert_eq!(hooks.before_turn(&history, 0).get().await, rheon_types::Flow::Continue);
}

#[tokio::test]
async fn continue_false_overrides_a_hook_that_blocks_stopping() {
    let fixture = Fixture::new();
    let hooks = fixture.hooks(json!({ "Stop": [{ "hooks": [
        command("echo more to do >&2; exit 2"),
        command("echo '{\"continue\":false}'"),
    ] }] }));
    assert_eq!(trigger(HookEvent::Stop, &hooks).await, "Continue");
}

#[tokio::test]
async fn hooks_do_not_answer_questions_of_the_model() {
    let fixture = Fixture::new();
    let hooks = fixture.one("PermissionRequest", "touch ran");
    let call = call("ask_user", json!({}));
    let mut request = question(&call);
    request.subject = rheon_types::event::Subject::Questions { questions: Vec::new() };
    assert_eq!(hooks.answer_approval(&call, &request).get().await, None);
    assert!(!fixture.path("ran").exists());
}

#[tokio::test]
async fn text_for_the_model_is_truncated() {
    let fixture = Fixture::new();
    let hooks = printing(
        &fixture,
        "SessionStart",
        &specific("SessionStart", json!({ "additionalContext": "ä".repeat(10_001) })),
    );
    let lengths: Vec<usize> =
        hooks.session_start().await.context.iter().map(|text| text.chars().count()).collect();
    assert_eq!(lengths, [10_000]);
}
