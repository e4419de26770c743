//! What hooks receive at each event, and what they can change.

use expect_test::expect;
use rheon_types::event::CompactionTrigger;
use rheon_types::{
    AgentOutput, Content, FilterVerdict, Flow, Hook, HookVerdict, InputFilter, Message, ProviderError,
    ProviderErrorKind, RunEnd, RunFailure, ThinkingLevel, Timestamp, ToolResult,
};
use serde_json::{Value, json};

use crate::hooks::fixtures::{Fixture, bash, call, command, question, trigger};
use crate::hooks::{CommandHooks, HookContext, HookEvent, HookFacts, HookSettings};

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
        {"cwd":"PROJECT","hook_event_name":"UserPromptSubmit","permission_mode":"default","prompt":"do it","prompt_id":"bcd4edbb-4a47-8940-a5ee-63c9a8f79ca9","session_id":"s","transcript_path":null}
        {"cwd":"PROJECT","hook_event_name":"PreToolUse","permission_mode":"default","session_id":"s","tool_input":{"command":"npm test"},"tool_name":"Bash","tool_use_id":"call-1","transcript_path":null}
        {"cwd":"PROJECT","hook_event_name":"PermissionRequest","permission_mode":"default","permission_suggestions":[{"behavior":"allow","destination":"localSettings","rules":[{"ruleContent":"npm test *","toolName":"Bash"}],"type":"addRules"}],"session_id":"s","tool_input":{"command":"npm test"},"tool_name":"Bash","transcript_path":null}
        {"cwd":"PROJECT","hook_event_name":"PermissionDenied","permission_mode":"default","reason":"because","session_id":"s","tool_input":{"command":"npm test"},"tool_name":"Bash","tool_use_id":"call-1","transcript_path":null}
        {"cwd":"PROJECT","duration_ms":null,"hook_event_name":"PostToolUse","permission_mode":"default","session_id":"s","tool_input":{"command":"npm test"},"tool_name":"Bash","tool_response":{"exitCode":null,"interrupted":false,"isImage":false,"stderr":"","stdout":"fine"},"tool_use_id":"call-1","transcript_path":null}
        {"cwd":"PROJECT","duration_ms":null,"error":"bad","hook_event_name":"PostToolUseFailure","is_interrupt":false,"permission_mode":"default","session_id":"s","tool_input":{"command":"npm test"},"tool_name":"Bash","tool_use_id":"call-1","transcript_path":null}
        {"custom_instructions":"","cwd":"PROJECT","hook_event_name":"PreCompact","permission_mode":"default","session_id":"s","transcript_path":null,"trigger":"auto"}
        {"compact_summary":"short","cwd":"PROJECT","hook_event_name":"PostCompact","permission_mode":"default","session_id":"s","transcript_path":null,"trigger":"manual"}
        {"agent_id":"a1","agent_type":"Explore","cwd":"PROJECT","hook_event_name":"SubagentStart","permission_mode":"default","session_id":"s","transcript_path":null}
        {"agent_id":"a1","agent_type":"Explore","cwd":"PROJECT","hook_event_name":"SubagentStop","last_assistant_message":"found it","permission_mode":"default","session_id":"s","stop_hook_active":false,"transcript_path":null}
        {"cwd":"PROJECT","hook_event_name":"Stop","last_assistant_message":"","permission_mode":"default","session_id":"s","stop_hook_active":true,"transcript_path":null}
        {"cwd":"PROJECT","error":"rate_limit","error_details":"429","hook_event_name":"StopFailure","last_assistant_message":"so far","permission_mode":"default","session_id":"s","transcript_path":null}
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
    assert_eq!((permit.verdict, permit.context), (None, vec!["z is better".to_owned()]));
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
    let deny = || Some(HookVerdict::Deny("budget is spent".into()));
    assert_eq!(hooks.permit_tool(&bash("ls")).get().await.verdict, deny());
    assert_eq!(hooks.permit_tool(&bash("pwd")).get().await.verdict, deny());
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

#[tokio::test]
async fn hooks_know_the_model_the_effort_the_prompt_and_the_transcript() {
    let fixture = Fixture::new();
    let facts = HookFacts {
        model: Some("claude-opus-4-6".into()),
        thinking: ThinkingLevel::High,
        ..HookFacts::default()
    };
    let context = HookContext {
        transcript_path: Some("/home/dev/.claude/projects/p/s.jsonl".into()),
        facts: std::sync::Arc::new(move || facts.clone()),
        ..fixture.context()
    };
    let hook = command("cat >> input.json");
    let hooks = json!({ "PreToolUse": [{ "hooks": [hook] }], "SessionStart": [{ "hooks": [hook] }] });
    let settings = HookSettings::parse(&json!({ "hooks": hooks }).to_string(), "settings.json").unwrap();
    // Two sets of hooks of one session name a prompt alike.
    for _ in 0..2 {
        let hooks = CommandHooks::new(settings.clone(), context.clone());
        hooks.check(&Message::user("do it", Timestamp::from_millis(7))).get().await;
        hooks.permit_tool(&bash("npm test")).get().await;
        hooks.check(&Message::user("do it", Timestamp::from_millis(8))).get().await;
        hooks.permit_tool(&bash("npm test")).get().await;
    }
    let inputs: Vec<Value> =
        fixture.read("input.json").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<&str> = inputs.iter().map(|input| input["prompt_id"].as_str().unwrap()).collect();
    assert_eq!(ids[..3], ids[3..]);
    assert!(ids[0] == ids[1] && ids[1] != ids[2], "{ids:?}");
    expect![[r#"
        {"cwd":"PROJECT","effort":{"level":"high"},"hook_event_name":"PreToolUse","model":"claude-opus-4-6","permission_mode":"default","prompt_id":"PROMPT","session_id":"s","tool_input":{"command":"npm test"},"tool_name":"Bash","tool_use_id":"call-1","transcript_path":"/home/dev/.claude/projects/p/s.jsonl"}"#]]
    .assert_eq(&fixture.plain(&inputs[1].to_string()).replace(ids[1], "PROMPT"));
}

/// The result of a command that printed `shown`, as the tool makes it.
fn printed(shown: &str, exit_code: i64) -> ToolResult {
    let text = format!("{shown}[a note]\nexit code {exit_code}");
    ToolResult::text(text)
        .with_details(json!({ "exit_code": exit_code, "signal": null, "shown_bytes": shown.len() }))
}

#[tokio::test]
async fn output_and_exit_code_of_a_command_are_apart() {
    let mut inputs = String::new();
    for exit_code in [0, 3] {
        let fixture = Fixture::new();
        let hook = command("cat > input.json");
        let hooks = fixture.hooks(
            json!({ "PostToolUse": [{ "hooks": [hook] }], "PostToolUseFailure": [{ "hooks": [hook] }] }),
        );
        hooks.after_tool(&bash("make"), &printed("made\nit\n", exit_code), false).get().await;
        let input: Value = serde_json::from_str(&fixture.read("input.json")).unwrap();
        for key in ["hook_event_name", "error", "exit_code", "tool_response"] {
            inputs += &format!("{key}: {}\n", input[key]);
        }
    }
    expect![[r#"
        hook_event_name: "PostToolUse"
        error: null
        exit_code: null
        tool_response: {"details":{"exit_code":0,"shown_bytes":8,"signal":null},"exitCode":0,"interrupted":false,"isImage":false,"stderr":"","stdout":"made\nit"}
        hook_event_name: "PostToolUseFailure"
        error: "Exit code 3\nmade\nit"
        exit_code: 3
        tool_response: {"details":{"exit_code":3,"shown_bytes":8,"signal":null},"exitCode":3,"interrupted":false,"isImage":false,"stderr":"","stdout":"made\nit"}
    "#]]
    .assert_eq(&inputs);
}

#[tokio::test]
async fn a_command_that_a_signal_killed_has_failed() {
    let fixture = Fixture::new();
    let hooks = fixture.one("PostToolUseFailure", "echo ran > ran");
    let killed = ToolResult::text("killed").with_details(json!({ "exit_code": null, "signal": 9 }));
    hooks.after_tool(&bash("make"), &killed, false).get().await;
    assert_eq!(fixture.read("ran"), "ran\n");
}

#[tokio::test]
async fn a_failed_run_fires_stop_failure_with_claude_codes_name_of_the_error() {
    let fixture = Fixture::new();
    let hooks = fixture.hooks(json!({ "StopFailure": [
        { "matcher": "rate_limit", "hooks": [command("cat > limited")] },
        { "matcher": "server_error", "hooks": [command("cat > failed")] },
    ] }));
    let error = ProviderError::new(ProviderErrorKind::RateLimited, "429: slow down");
    let output = AgentOutput::new(RunEnd::Failed { failure: RunFailure::Provider { error } });
    hooks.after_run(&output).get().await;
    hooks.after_run(&AgentOutput::new(RunEnd::Completed)).get().await;
    let input: Value = serde_json::from_str(&fixture.read("limited")).unwrap();
    assert_eq!((&input["error"], &input["error_details"]), (&json!("rate_limit"), &json!("429: slow down")));
    assert!(!fixture.path("failed").exists());
}

#[tokio::test]
async fn a_hook_blocks_a_compaction_and_the_context_after_one_reaches_the_model() {
    let fixture = Fixture::new();
    let hooks = fixture.hooks(json!({
        "PreCompact": [{ "matcher": "manual", "hooks": [command("echo finish the task first >&2; exit 2")] }],
        "PostCompact": [{ "hooks": [command("cat > after")] }],
        "SessionStart": [{ "matcher": "compact", "hooks": [command("echo remember the rules")] }],
    }));
    let flow = hooks.before_compaction(CompactionTrigger::Manual, Some("keep names")).get().await;
    assert_eq!(flow, Flow::Veto("finish the task first".into()));
    assert_eq!(hooks.before_compaction(CompactionTrigger::Overflow, None).get().await, Flow::Continue);
    hooks.after_compaction(CompactionTrigger::Overflow, Some("short")).get().await;
    let input: Value = serde_json::from_str(&fixture.read("after")).unwrap();
    assert_eq!((&input["trigger"], &input["compact_summary"]), (&json!("auto"), &json!("short")));
    let amendment = hooks.after_tool(&bash("ls"), &ToolResult::text("a"), false).get().await;
    assert_eq!(amendment.context, ["remember the rules"]);
    let amendment = hooks.after_tool(&bash("ls"), &ToolResult::text("a"), false).get().await;
    assert_eq!(amendment.context, Vec::<String>::new());
    hooks.after_compaction(CompactionTrigger::Manual, None).get().await;
    let verdict = hooks.check(&Message::user("go on", Timestamp::default())).get().await;
    assert_eq!(verdict, FilterVerdict::Add("remember the rules".into()));
}
