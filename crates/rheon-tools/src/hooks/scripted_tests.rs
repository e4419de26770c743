//! Hooks in scripted runs, as event traces.

use expect_test::expect;
use rheon_testkit::{FnTool, Scenario, ScriptedRun, Turn, scripted};
use rheon_types::ToolResult;
use serde_json::{Value, json};

use crate::hooks::fixtures::{Fixture, command};

const SHOWN: &[&str] =
    &["hook.run", "approval.", "tool.", "message.end user", "message.end toolResult", "input.", "agent.end"];

/// A run of one call of `bash` with the hooks of `settings`.
async fn run(fixture: &Fixture, settings: Value) -> ScriptedRun {
    let hooks = fixture.hooks(settings);
    let tool = FnTool::new("bash", |arguments, _| async move {
        Ok(ToolResult::text(format!(
            "ran {}",
            arguments.get("command").and_then(Value::as_str).unwrap_or_default()
        )))
    });
    let scenario = Scenario::new()
        .turn(Turn::call("bash", json!({ "command": "make" })))
        .turn("Done.")
        .turn("Really done.");
    scripted(scenario)
        .tool(tool)
        .with(|builder| builder.hook(hooks.clone()).input_filter(hooks))
        .run("build it")
        .await
}

/// What happened, without how long hooks took.
fn shown(ran: &ScriptedRun) -> String {
    let trace = ran.trace.only(SHOWN);
    let lines = trace.lines().map(|line| match line.split_once(", duration_ms: ") {
        Some((line, _)) => format!("{line} }}"),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn pre(fields: Value) -> Value {
    let mut specific = json!({ "hookEventName": "PreToolUse" });
    specific.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let output = json!({ "hookSpecificOutput": specific });
    json!({ "PreToolUse": [{ "matcher": "Bash", "hooks": [command(&format!("echo '{output}'"))] }] })
}

#[tokio::test]
async fn a_call_denied_by_a_hook_does_not_run() {
    let fixture = Fixture::new();
    let deny = json!({ "permissionDecision": "deny", "permissionDecisionReason": "use cargo" });
    let ran = run(&fixture, pre(deny)).await;
    expect![[r#"
        message.end user "build it"
        hook.run HookRun { hook: "command hooks", point: PermitTool, veto: Some("use cargo") }
        tool.blocked bash call_1_0 "use cargo"
        message.end toolResult call_1_0 error "use cargo"
        agent.end completed "Done.""#]]
    .assert_eq(&shown(&ran));
}

#[tokio::test]
async fn a_call_allowed_by_a_hook_runs() {
    let fixture = Fixture::new();
    let ran =
        run(&fixture, pre(json!({ "permissionDecision": "allow", "additionalContext": "make is slow" })))
            .await;
    expect![[r#"
        message.end user "build it"
        hook.run HookRun { hook: "command hooks", point: PermitTool, veto: None }
        tool.start bash call_1_0 {"command":"make"}
        tool.end bash call_1_0 ok "ran make"
        message.end toolResult call_1_0 "ran make" "make is slow"
        agent.end completed "Done.""#]]
    .assert_eq(&shown(&ran));
}

#[tokio::test]
async fn a_hook_that_asks_waits_for_approval_from_another_hook() {
    let fixture = Fixture::new();
    let ask = pre(json!({ "permissionDecision": "ask", "permissionDecisionReason": "it costs money" }));
    let ran = run(&fixture, ask.clone()).await;
    expect![[r#"
        message.end user "build it"
        hook.run HookRun { hook: "command hooks", point: PermitTool, veto: None }
        approval.required bash {"command":"make"}
        approval.resolved deny Once by NonInteractive
        tool.blocked bash call_1_0 "permission denied: bash needs approval (it costs money), but this run is non-interactive"
        message.end toolResult call_1_0 error "permission denied: bash needs approval (it costs money), but this run is non-interactive"
        agent.end completed "Done.""#]].assert_eq(&shown(&ran));
    let mut settings = ask;
    let allow = json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": { "behavior": "allow" } } });
    settings["PermissionRequest"] = json!([{ "hooks": [command(&format!("echo '{allow}'"))] }]);
    let ran = run(&fixture, settings).await;
    expect![[r#"
        message.end user "build it"
        hook.run HookRun { hook: "command hooks", point: PermitTool, veto: None }
        approval.required bash {"command":"make"}
        approval.resolved allow Once by Hook
        tool.start bash call_1_0 {"command":"make"}
        tool.end bash call_1_0 ok "ran make"
        message.end toolResult call_1_0 "ran make"
        agent.end completed "Done.""#]]
    .assert_eq(&shown(&ran));
}

#[tokio::test]
async fn a_call_runs_with_the_input_of_a_hook() {
    let fixture = Fixture::new();
    let ran = run(&fixture, pre(json!({ "updatedInput": { "command": "make -j1" } }))).await;
    expect![[r#"
        message.end user "build it"
        hook.run HookRun { hook: "command hooks", point: PermitTool, veto: None }
        tool.start bash call_1_0 {"command":"make -j1"}
        tool.end bash call_1_0 ok "ran make -j1"
        message.end toolResult call_1_0 "ran make -j1"
        agent.end completed "Done.""#]]
    .assert_eq(&shown(&ran));
}

#[tokio::test]
async fn a_post_hook_objection_goes_to_the_model() {
    let fixture = Fixture::new();
    let block = command(r#"echo '{"decision":"block","reason":"the tests fail"}'"#);
    let ran = run(&fixture, json!({ "PostToolUse": [{ "matcher": "Bash", "hooks": [block] }] })).await;
    expect![[r#"
        message.end user "build it"
        tool.start bash call_1_0 {"command":"make"}
        tool.end bash call_1_0 ok "ran make"
        message.end toolResult call_1_0 "ran make" "A PostToolUse hook reported a problem: the tests fail"
        agent.end completed "Done.""#]]
    .assert_eq(&shown(&ran));
}

#[tokio::test]
async fn a_stop_hook_keeps_the_run_going() {
    let fixture = Fixture::new();
    let hook = command("grep -q '\"stop_hook_active\":true' || { echo run the tests >&2; exit 2; }");
    let ran = run(&fixture, json!({ "Stop": [{ "hooks": [hook] }] })).await;
    expect![[r#"
        message.end user "build it"
        tool.start bash call_1_0 {"command":"make"}
        tool.end bash call_1_0 ok "ran make"
        message.end toolResult call_1_0 "ran make"
        message.end user "run the tests"
        agent.end completed "Really done.""#]]
    .assert_eq(&shown(&ran));
}

#[tokio::test]
async fn prompt_hooks_block_or_add_context() {
    let fixture = Fixture::new();
    let ran =
        run(&fixture, json!({ "UserPromptSubmit": [{ "hooks": [command("echo not now >&2; exit 2")] }] }))
            .await;
    expect![[r#"
        input.rejected "not now"
        agent.end rejected(not now) """#]]
    .assert_eq(&shown(&ran));
    let settings = json!({
        "SessionStart": [{ "hooks": [command("echo on branch main")] }],
        "UserPromptSubmit": [{ "hooks": [command("echo in a hurry")] }],
    });
    expect![[r#"user "build it\non branch main\n\nin a hurry""#]]
        .assert_eq(&run(&fixture, settings).await.sent(0));
}

#[tokio::test]
async fn a_hook_that_says_not_to_continue_stops_the_run() {
    let fixture = Fixture::new();
    let stop = command(r#"echo '{"continue":false,"stopReason":"enough"}'"#);
    let ran = run(&fixture, json!({ "PostToolUse": [{ "hooks": [stop] }] })).await;
    expect![[r#"
        message.end user "build it"
        tool.start bash call_1_0 {"command":"make"}
        tool.end bash call_1_0 ok "ran make"
        message.end toolResult call_1_0 "ran make"
        agent.end vetoed(BeforeTurn: enough) """#]]
    .assert_eq(&shown(&ran));
}

#[tokio::test]
async fn a_denied_call_is_reported_to_hooks() {
    let fixture = Fixture::new();
    let mut settings = pre(json!({ "permissionDecision": "deny", "permissionDecisionReason": "no" }));
    settings["PermissionDenied"] = json!([{ "hooks": [command("cat > denied")] }]);
    let hooks = fixture.hooks(settings);
    let tool = FnTool::new("bash", |_, _| async { Ok(ToolResult::text("ran")) });
    let scenario = Scenario::new().turn(Turn::call("bash", json!({ "command": "make" }))).turn("Done.");
    let given = hooks.clone();
    scripted(scenario).tool(tool).with(|builder| builder.hook(given)).run("go").await;
    hooks.idle().await;
    let messages: Value = serde_json::from_str(&fixture.read("denied")).unwrap();
    assert_eq!((&messages["tool_name"], &messages["reason"]), (&json!("Bash"), &json!("no")));
}

#[tokio::test]
async fn a_command_that_fails_fires_the_failure_event() {
    let fixture = Fixture::new();
    let says = |event: &str, text: &str| {
        let output = json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } });
        json!([{ "matcher": "Bash", "hooks": [command(&format!("echo '{output}'"))] }])
    };
    let hooks = fixture.hooks(json!({
        "PostToolUse": says("PostToolUse", "it worked"),
        "PostToolUseFailure": says("PostToolUseFailure", "it failed"),
    }));
    let tool = FnTool::new("bash", |arguments, _| async move {
        Ok(ToolResult::text("ran").with_details(json!({ "exit_code": arguments["code"] })))
    });
    let scenario = Scenario::new()
        .turn(Turn::call("bash", json!({ "code": 0 })))
        .turn(Turn::call("bash", json!({ "code": 2 })))
        .turn("Done.");
    let ran = scripted(scenario).tool(tool).with(|builder| builder.hook(hooks)).run("go").await;
    assert!(ran.sent(1).contains("it worked"), "{}", ran.sent(1));
    let last = ran.sent(2);
    assert_eq!((last.matches("it worked").count(), last.matches("it failed").count()), (1, 1), "{last}");
}
