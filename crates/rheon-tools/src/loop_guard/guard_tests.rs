//! The loop guard in scripted runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use rheon_testkit::{FnTool, Scenario, Turn, scripted};
use rheon_types::{Effect, Hook, Reminder, Request, RunEnd, ToolError, ToolResult};
use serde_json::json;

use super::LoopGuard;

/// `make`, which exits with these codes and then with 0.
fn make(codes: &'static [i64]) -> FnTool {
    let nth = AtomicUsize::new(0);
    FnTool::new("bash", move |_, _| {
        let code = codes.get(nth.fetch_add(1, Ordering::Relaxed)).copied().unwrap_or_default();
        let text = if code == 0 { "ok" } else { "error: it does not compile" };
        async move { Ok(ToolResult::text(text).with_details(json!({ "exit_code": code }))) }
    })
    .effect(Effect::Pure)
}

fn calls(count: usize) -> Scenario {
    let one = |scenario: Scenario, _| scenario.turn(Turn::call("bash", json!({ "command": "make" })));
    (0..count).fold(Scenario::new(), one).turn("I give up.")
}

const SHOWN: &[&str] =
    &["hook.run", "approval.required", "tool.blocked", "message.end toolResult", "agent.end"];

#[tokio::test(start_paused = true)]
async fn repeated_calls_are_warned_about_then_need_approval_then_are_blocked() {
    let guard = Arc::new(LoopGuard::new());
    let ran = scripted(calls(10))
        .tool(make(&[1; 20]))
        .with(|builder| builder.hook(Arc::clone(&guard) as Arc<dyn Hook>).max_turns(20))
        .run("build it")
        .await;
    expect![[r#"
        message.end toolResult call_1_0 "error: it does not compile"
        message.end toolResult call_2_0 "error: it does not compile"
        message.end toolResult call_3_0 "error: it does not compile"
        hook.run HookRun { hook: "loop_guard", point: PermitTool, veto: None, duration_ms: 0 }
        message.end toolResult call_4_0 "error: it does not compile" "bash was called with the same arguments 3 times in a row, with the same results; try something else"
        hook.run HookRun { hook: "loop_guard", point: PermitTool, veto: None, duration_ms: 0 }
        message.end toolResult call_5_0 "error: it does not compile" "bash was called with the same arguments 4 times in a row, with the same results; try something else"
        hook.run HookRun { hook: "loop_guard", point: PermitTool, veto: None, duration_ms: 0 }
        approval.required bash {"command":"make"}
        tool.blocked bash call_6_0 "permission denied: bash needs approval (bash was called with the same arguments 5 times in a row, with the same results; the model may be stuck in a loop), but this run is non-interactive"
        message.end toolResult call_6_0 error "permission denied: bash needs approval (bash was called with the same arguments 5 times in a row, with the same results; the model may be stuck in a loop), but this run is non-interactive"
        hook.run HookRun { hook: "loop_guard", point: PermitTool, veto: None, duration_ms: 0 }
        approval.required bash {"command":"make"}
        tool.blocked bash call_7_0 "permission denied: bash needs approval (bash was called with the same arguments 6 times in a row, with the same results; the model may be stuck in a loop), but this run is non-interactive"
        message.end toolResult call_7_0 error "permission denied: bash needs approval (bash was called with the same arguments 6 times in a row, with the same results; the model may be stuck in a loop), but this run is non-interactive"
        hook.run HookRun { hook: "loop_guard", point: PermitTool, veto: None, duration_ms: 0 }
        approval.required bash {"command":"make"}
        tool.blocked bash call_8_0 "permission denied: bash needs approval (bash was called with the same arguments 7 times in a row, with the same results; the model may be stuck in a loop), but this run is non-interactive"
        message.end toolResult call_8_0 error "permission denied: bash needs approval (bash was called with the same arguments 7 times in a row, with the same results; the model may be stuck in a loop), but this run is non-interactive"
        hook.run HookRun { hook: "loop_guard", point: PermitTool, veto: Some("bash was called with the same arguments 8 times in a row, with the same results; it was not run again; do something else or tell the user"), duration_ms: 0 }
        tool.blocked bash call_9_0 "bash was called with the same arguments 8 times in a row, with the same results; it was not run again; do something else or tell the user"
        message.end toolResult call_9_0 error "bash was called with the same arguments 8 times in a row, with the same results; it was not run again; do something else or tell the user"
        hook.run HookRun { hook: "loop_guard", point: PermitTool, veto: Some("bash was called with the same arguments 9 times in a row, with the same results; it was not run again; do something else or tell the user"), duration_ms: 0 }
        tool.blocked bash call_10_0 "bash was called with the same arguments 9 times in a row, with the same results; it was not run again; do something else or tell the user"
        message.end toolResult call_10_0 error "bash was called with the same arguments 9 times in a row, with the same results; it was not run again; do something else or tell the user"
        agent.end completed "I give up.""#]].assert_eq(&ran.trace.only(SHOWN));
    let open: Vec<String> = guard
        .open_failures()
        .iter()
        .map(|failure| format!("{} {:?} x{}", failure.action, failure.kind, failure.count))
        .collect();
    expect!["bash command=make Forbidden x5"].assert_eq(&open.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn repeated_failures_are_in_each_request_until_resolved_and_never_in_the_history() {
    let guard = Arc::new(LoopGuard::new());
    let ran = scripted(calls(4))
        .tool(make(&[1, 1, 1, 0]))
        .with(|builder| {
            let hook = Arc::clone(&guard) as Arc<dyn Hook>;
            builder.hook(hook).reminder(Arc::clone(&guard) as Arc<dyn Reminder>)
        })
        .run("build it")
        .await;
    let reminder = |request: &Request| request.reminder.as_deref().unwrap_or("nothing").to_owned();
    let reminders: Vec<String> = ran.provider.requests().iter().map(reminder).collect();
    expect![[r#"
        nothing
        ----
        nothing
        ----
        <reminder>

        These calls keep failing:
        - bash command=make (failed 2 times: error: it does not compile); read its output, fix the cause, then run it again
        </reminder>
        ----
        <reminder>

        These calls keep failing:
        - bash command=make (failed 3 times: error: it does not compile); read its output, fix the cause, then run it again
        </reminder>
        ----
        nothing"#]].assert_eq(&reminders.join("\n----\n"));
    expect![[r#"
        message.end toolResult call_1_0 "error: it does not compile"
        message.end toolResult call_2_0 "error: it does not compile"
        message.end toolResult call_3_0 "error: it does not compile"
        hook.run HookRun { hook: "loop_guard", point: PermitTool, veto: None, duration_ms: 0 }
        message.end toolResult call_4_0 "ok" "bash was called with the same arguments 3 times in a row, with the same results; try something else"
        agent.end completed "I give up.""#]].assert_eq(&ran.trace.only(SHOWN));
    assert_eq!(guard.open_failures().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn tool_errors_count_by_kind() {
    let guard = Arc::new(LoopGuard::new());
    let fails = FnTool::new("bash", |_, _| async { Err(ToolError::TimedOut("it took too long".into())) });
    let ran = scripted(calls(2))
        .tool(fails)
        .with(|builder| builder.hook(Arc::clone(&guard) as Arc<dyn Hook>))
        .run("build it")
        .await;
    expect![[r#"
        message.end toolResult call_1_0 error "it took too long"
        message.end toolResult call_2_0 error "it took too long"
        agent.end completed "I give up.""#]]
    .assert_eq(&ran.trace.only(SHOWN));
}

#[tokio::test(start_paused = true)]
async fn the_fix_of_a_repeated_failure_is_learned_once() {
    let guard = Arc::new(LoopGuard::new());
    let make_it = || Turn::call("bash", json!({ "command": "make" }));
    let scenario = Scenario::new()
        .turn(make_it())
        .turn(make_it())
        .turn(Turn::call("edit", json!({ "path": "Makefile" })))
        .turn(make_it())
        .turn("It builds.");
    let edit = FnTool::new("edit", |_, _| async { Ok(ToolResult::text("edited")) }).effect(Effect::Pure);
    scripted(scenario)
        .tool(make(&[2, 2]))
        .tool(edit)
        .with(|builder| builder.hook(Arc::clone(&guard) as Arc<dyn Hook>))
        .run("build it")
        .await;
    let lessons: Vec<String> = guard.take_lessons().into_iter().map(|lesson| lesson.text).collect();
    assert_eq!(
        lessons,
        [r#"When `make` fails with "error: it does not compile": `edit Makefile` came before it worked."#]
    );
    assert_eq!(guard.take_lessons(), []);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_repeats_blocked_calls_is_stopped() {
    let stuck = "the model repeats itself: 8 repeated calls in a row were blocked";
    // One runs and is blocked as a repetition later; the other never runs.
    for tool in ["bash", "nowhere"] {
        let scenario = Scenario::new().turn(Turn::call(tool, json!({ "command": "make" })).repeat());
        let guard = Arc::new(LoopGuard::new());
        let ran = scripted(scenario)
            .tool(make(&[1; 20]))
            .with(|builder| builder.hook(Arc::clone(&guard) as Arc<dyn Hook>))
            .run("build it")
            .await;
        assert_eq!(ran.output().turns, 16);
        let expected = RunEnd::Stuck { message: stuck.into() };
        assert_eq!(ran.output().end, expected);
    }
}
