//! The watch in scripted runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use rheon_testkit::{FnTool, Scenario, Turn, scripted};
use rheon_types::{Effect, Hook, Reminder, Request, ToolError, ToolResult};
use serde_json::json;

use super::Watch;

/// `make`, which ends with this code; the last time with 0.
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
async fn calls_in_circles_are_warned_about_then_asked_about_then_refused() {
    let watch = Arc::new(Watch::new());
    let ran = scripted(calls(10))
        .tool(make(&[1; 20]))
        .with(|builder| builder.shared_hook(Arc::clone(&watch) as Arc<dyn Hook>).max_turns(20))
        .run("build it")
        .await;
    expect![[r#"
        message.end toolResult call_1_0 "error: it does not compile"
        message.end toolResult call_2_0 "error: it does not compile"
        message.end toolResult call_3_0 "error: it does not compile"
        hook.run HookRun { hook: "watch", point: PermitTool, veto: None, duration_ms: 0 }
        message.end toolResult call_4_0 "error: it does not compile" "bash was called with the same arguments 3 times in a row, with the same results; try something else"
        hook.run HookRun { hook: "watch", point: PermitTool, veto: None, duration_ms: 0 }
        message.end toolResult call_5_0 "error: it does not compile" "bash was called with the same arguments 4 times in a row, with the same results; try something else"
        hook.run HookRun { hook: "watch", point: PermitTool, veto: None, duration_ms: 0 }
        approval.required bash {"command":"make"}
        tool.blocked bash call_6_0 "permission denied: bash needs approval (bash was called with the same arguments 5 times in a row, with the same results; it may be going in circles), but this run is non-interactive"
        message.end toolResult call_6_0 error "permission denied: bash needs approval (bash was called with the same arguments 5 times in a row, with the same results; it may be going in circles), but this run is non-interactive"
        hook.run HookRun { hook: "watch", point: PermitTool, veto: None, duration_ms: 0 }
        approval.required bash {"command":"make"}
        tool.blocked bash call_7_0 "permission denied: bash needs approval (bash was called with the same arguments 6 times in a row, with the same results; it may be going in circles), but this run is non-interactive"
        message.end toolResult call_7_0 error "permission denied: bash needs approval (bash was called with the same arguments 6 times in a row, with the same results; it may be going in circles), but this run is non-interactive"
        hook.run HookRun { hook: "watch", point: PermitTool, veto: None, duration_ms: 0 }
        approval.required bash {"command":"make"}
        tool.blocked bash call_8_0 "permission denied: bash needs approval (bash was called with the same arguments 7 times in a row, with the same results; it may be going in circles), but this run is non-interactive"
        message.end toolResult call_8_0 error "permission denied: bash needs approval (bash was called with the same arguments 7 times in a row, with the same results; it may be going in circles), but this run is non-interactive"
        hook.run HookRun { hook: "watch", point: PermitTool, veto: Some("bash was called with the same arguments 8 times in a row, with the same results; it is not run again; do something else or tell the user"), duration_ms: 0 }
        tool.blocked bash call_9_0 "bash was called with the same arguments 8 times in a row, with the same results; it is not run again; do something else or tell the user"
        message.end toolResult call_9_0 error "bash was called with the same arguments 8 times in a row, with the same results; it is not run again; do something else or tell the user"
        hook.run HookRun { hook: "watch", point: PermitTool, veto: Some("bash was called with the same arguments 9 times in a row, with the same results; it is not run again; do something else or tell the user"), duration_ms: 0 }
        tool.blocked bash call_10_0 "bash was called with the same arguments 9 times in a row, with the same results; it is not run again; do something else or tell the user"
        message.end toolResult call_10_0 error "bash was called with the same arguments 9 times in a row, with the same results; it is not run again; do something else or tell the user"
        agent.end completed "I give up.""#]].assert_eq(&ran.trace.only(SHOWN));
    let open: Vec<String> = watch
        .open_failures()
        .iter()
        .map(|failure| format!("{} {:?} x{}", failure.action, failure.kind, failure.count))
        .collect();
    expect!["bash command=make Forbidden x5"].assert_eq(&open.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn what_keeps_failing_is_said_in_each_request_until_it_succeeds_and_never_in_the_conversation() {
    let watch = Arc::new(Watch::new());
    let ran = scripted(calls(4))
        .tool(make(&[1, 1, 1, 0]))
        .with(|builder| {
            let hook = Arc::clone(&watch) as Arc<dyn Hook>;
            builder.shared_hook(hook).reminder(Arc::clone(&watch) as Arc<dyn Reminder>)
        })
        .run("build it")
        .await;
    let said = |request: &Request| request.reminder.as_deref().unwrap_or("nothing").to_owned();
    let reminders: Vec<String> = ran.provider.requests().iter().map(said).collect();
    expect![[r#"
        nothing
        ----
        nothing
        ----
        <reminder>

        These calls keep failing:
        - bash command=make (failed 2 times: error: it does not compile); read its output, mend the cause, then run it again
        </reminder>
        ----
        <reminder>

        These calls keep failing:
        - bash command=make (failed 3 times: error: it does not compile); read its output, mend the cause, then run it again
        </reminder>
        ----
        nothing"#]].assert_eq(&reminders.join("\n----\n"));
    expect![[r#"
        message.end toolResult call_1_0 "error: it does not compile"
        message.end toolResult call_2_0 "error: it does not compile"
        message.end toolResult call_3_0 "error: it does not compile"
        hook.run HookRun { hook: "watch", point: PermitTool, veto: None, duration_ms: 0 }
        message.end toolResult call_4_0 "ok" "bash was called with the same arguments 3 times in a row, with the same results; try something else"
        agent.end completed "I give up.""#]].assert_eq(&ran.trace.only(SHOWN));
    assert_eq!(watch.open_failures().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn errors_of_tools_count_by_their_kind() {
    let watch = Arc::new(Watch::new());
    let fails = FnTool::new("bash", |_, _| async { Err(ToolError::TimedOut("it took too long".into())) });
    let ran = scripted(calls(2))
        .tool(fails)
        .with(|builder| builder.shared_hook(Arc::clone(&watch) as Arc<dyn Hook>))
        .run("build it")
        .await;
    expect![[r#"
        message.end toolResult call_1_0 error "it took too long"
        message.end toolResult call_2_0 error "it took too long"
        agent.end completed "I give up.""#]]
    .assert_eq(&ran.trace.only(SHOWN));
}

#[tokio::test(start_paused = true)]
async fn what_mended_a_repeated_failure_is_learnt_once() {
    let watch = Arc::new(Watch::new());
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
        .with(|builder| builder.shared_hook(Arc::clone(&watch) as Arc<dyn Hook>))
        .run("build it")
        .await;
    let lessons: Vec<String> = watch.take_lessons().into_iter().map(|lesson| lesson.text).collect();
    assert_eq!(
        lessons,
        [r#"When `make` fails with "error: it does not compile": `edit Makefile` came before it worked."#]
    );
    assert_eq!(watch.take_lessons(), []);
}
