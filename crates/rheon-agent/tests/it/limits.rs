//! Limits end a run with a reason that callers can match on.

use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use rheon_agent::{Caps, ExecutionLimits};
use rheon_testkit::{FnTool, Scenario, Turn, echo, hangs, scripted};
use rheon_types::event::{PermissionDecision, Subject};
use rheon_types::{
    AgentEvent, ApprovalEvent, AskFirst, Effect, LimitKind, RunEnd, StopReason, ToolResult, Usage,
};
use serde_json::json;

fn endless() -> Scenario {
    let usage = Usage { input: 60, output: 40, ..Usage::default() };
    Scenario::new().turn(Turn::call("echo", json!({ "text": "again" })).usage(usage).repeat())
}

fn limits() -> ExecutionLimits {
    ExecutionLimits::default()
}

fn limit_of(end: &RunEnd) -> Option<LimitKind> {
    match end {
        RunEnd::Limit { limit, .. } => Some(*limit),
        RunEnd::Completed
        | RunEnd::Truncated
        | RunEnd::Rejected { .. }
        | RunEnd::Vetoed { .. }
        | RunEnd::Stuck { .. }
        | RunEnd::Aborted
        | RunEnd::Failed { .. } => None,
    }
}

#[test]
fn the_limits_of_a_run_are_one_view_of_a_budget() {
    let minute = Duration::from_secs(60);
    let limits = ExecutionLimits { turns_max: Some(3), tokens_max: Some(5_000), duration_max: Some(minute) };
    assert_eq!(Caps::from(limits), Caps { tokens: Some(5_000), cost: None, wall: Some(minute) });
    assert_eq!(Caps::from(ExecutionLimits::default()), Caps::default());
}

#[tokio::test(start_paused = true)]
async fn turns() {
    let ran = scripted(endless()).tool(echo()).with(|builder| builder.max_turns(2)).run("go").await;
    expect![[r#"
        agent.start scripted
        turn.start 0 User
        message.end user "go"
        message.end assistant ToolUse [echo call_1_0 {"text":"again"}]
        message.end toolResult call_1_0 "again"
        turn.end 0 results=1 tokens=100
        turn.start 1 Continuation
        message.end assistant ToolUse [echo call_2_0 {"text":"again"}]
        message.end toolResult call_2_0 "again"
        turn.end 1 results=1 tokens=100
        message.end user "[Agent stopped: the turn limit of 2 was reached]"
        agent.end limit(Turns: the turn limit of 2 was reached) """#]]
    .assert_eq(&ran.trace.only(&["agent.", "turn.", "message.end"]));
    assert_eq!(limit_of(&ran.output().end), Some(LimitKind::Turns));
}

#[tokio::test(start_paused = true)]
async fn no_turn_at_all() {
    let ran = scripted(endless()).tool(echo()).with(|builder| builder.max_turns(0)).run("go").await;
    expect![[r#"
        agent.start scripted
        message.start user
        message.end user "go"
        message.start user
        message.end user "[Agent stopped: the turn limit of 0 was reached]"
        agent.end limit(Turns: the turn limit of 0 was reached) """#]]
    .assert_eq(&ran.trace.text());
    assert_eq!(ran.provider.request_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn tokens() {
    let capped = ExecutionLimits { tokens_max: Some(250), ..limits() };
    let ran = scripted(endless()).tool(echo()).with(|builder| builder.limits(capped)).run("go").await;
    assert_eq!((limit_of(&ran.output().end), ran.output().turns), (Some(LimitKind::Tokens), 3));
    expect![[r#"agent.end limit(Tokens: the token limit of 250 was reached (300 used)) """#]]
        .assert_eq(&ran.trace.only(&["agent.end"]));
}

#[tokio::test(start_paused = true)]
async fn time_ends_a_model_that_never_answers() {
    let capped = ExecutionLimits { duration_max: Some(Duration::from_secs(30)), ..limits() };
    let scenario = Scenario::new().turn(Turn::new().text("Hm").hang());
    let ran = scripted(scenario).with(|builder| builder.limits(capped)).run("go").await;
    expect![[r#"
        agent.start scripted
        turn.start 0 User
        message.start user
        message.end user "go"
        llm.start scripted
        message.start assistant
        text.delta "Hm"
        message.end assistant Aborted (the time limit of 30 s was reached) "Hm"
        llm.end Aborted
        turn.end 0 results=0 tokens=0
        message.start user
        message.end user "[Agent stopped: the time limit of 30 s was reached]"
        agent.end limit(Duration: the time limit of 30 s was reached) "Hm""#]]
    .assert_eq(&ran.trace.text());
    assert_eq!(limit_of(&ran.output().end), Some(LimitKind::Duration));
}

#[tokio::test(start_paused = true)]
async fn time_ends_a_tool_that_hangs_and_every_call_is_answered() {
    let capped = ExecutionLimits { duration_max: Some(Duration::from_secs(30)), ..limits() };
    let scenario = Scenario::new()
        .turn(Turn::new().tool_call("hangs", json!({})).tool_call("echo", json!({ "text": "hi" })))
        .turn("never");
    let ran =
        scripted(scenario).tool(hangs()).tool(echo()).with(|builder| builder.limits(capped)).run("go").await;
    expect![[r#"
        message.end user "go"
        message.end assistant ToolUse [hangs call_1_0 {}] [echo call_1_1 {"text":"hi"}]
        tool.start hangs call_1_0 {}
        tool.start echo call_1_1 {"text":"hi"}
        tool.end echo call_1_1 ok "hi"
        tool.end hangs call_1_0 error "Not completed: the time limit of 30 s was reached."
        message.end toolResult call_1_0 error "Not completed: the time limit of 30 s was reached."
        message.end toolResult call_1_1 "hi"
        turn.end 0 results=2 tokens=0
        message.end user "[Agent stopped: the time limit of 30 s was reached]"
        agent.end limit(Duration: the time limit of 30 s was reached) """#]]
    .assert_eq(&ran.trace.only(&["agent.end", "tool.", "message.end", "turn.end"]));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_hangs_meets_its_own_limit_first() {
    let scenario = Scenario::new().turn(Turn::call("hangs", json!({}))).turn("I see.");
    let ran = scripted(scenario)
        .tool(hangs())
        .with(|builder| builder.tool_timeout(Duration::from_secs(5)))
        .run("go")
        .await;
    expect![[r#"
        tool.start hangs call_1_0 {}
        tool.end hangs call_1_0 error "the tool did not finish within 5 s and was stopped"
        agent.end completed "I see.""#]]
    .assert_eq(&ran.trace.only(&["agent.end", "tool."]));
}

#[tokio::test(start_paused = true)]
async fn an_answer_cut_by_its_token_limit_says_so() {
    let scenario = Scenario::new().turn(Turn::say("And then").stop(StopReason::Length));
    let ran = scripted(scenario).run("go").await;
    let output = ran.result.unwrap();
    assert_eq!((&output.end, output.stop_reason()), (&RunEnd::Truncated, Some(StopReason::Length)));
}

#[tokio::test(start_paused = true)]
async fn what_waits_in_a_queue_survives_a_limit() {
    let scenario = Scenario::new().turn("One.").turn("Two.");
    let (agent, trace, _) = scripted(scenario).with(|builder| builder.max_turns(1)).build();
    agent.follow_up("and now?");
    let output = agent.run("go").await.unwrap();
    assert_eq!(limit_of(&output.end), Some(LimitKind::Turns));
    assert_eq!(agent.queue_lengths(), (0, 1));
    trace.assert_order();
}

/// A clock that goes back by a second whenever it is looked at.
struct Backwards(std::sync::atomic::AtomicU64);

impl rheon_types::Clock for Backwards {
    fn now(&self) -> rheon_types::Timestamp {
        rheon_types::Timestamp::from_millis(self.0.fetch_sub(1_000, std::sync::atomic::Ordering::Relaxed))
    }

    fn elapsed(&self) -> std::time::Duration {
        std::time::Duration::from_millis(self.0.fetch_sub(1_000, std::sync::atomic::Ordering::Relaxed))
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_goes_backwards_ends_no_run() {
    let scenario = Scenario::new().turn(Turn::call("echo", json!({ "text": "a" }))).turn("Done.");
    let clock = std::sync::Arc::new(Backwards(1_000_000_000.into()));
    let (agent, trace, _) = scripted(scenario).tool(echo()).with(|builder| builder.clock(clock)).build();
    let output = agent.run("go").await.unwrap();
    assert_eq!((&output.end, output.text.as_str()), (&RunEnd::Completed, "Done."));
    trace.assert_order();
}

#[tokio::test(start_paused = true)]
async fn nothing_ends_a_run_without_limits_but_the_model() {
    let mut scenario = Scenario::new();
    for _ in 0..200 {
        let usage = Usage { input: 60_000, output: 40, ..Usage::default() };
        scenario = scenario.turn(Turn::call("echo", json!({ "text": "again" })).usage(usage).delay(MINUTE));
    }
    let ran = scripted(scenario.turn("Done.")).tool(echo()).run("go").await;
    assert_eq!((&ran.output().end, ran.output().turns), (&RunEnd::Completed, 201));
}

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn tokens_of_the_cache_count_at_their_price() {
    // Without a price they count a tenth, as most services charge: 50 + 40 + 10 % of 100.
    let usage = Usage { input: 50, output: 40, cache_read: 100, ..Usage::default() };
    let scenario = Scenario::new().turn(Turn::call("echo", json!({ "text": "again" })).usage(usage).repeat());
    let capped = ExecutionLimits { tokens_max: Some(250), ..limits() };
    let ran = scripted(scenario).tool(echo()).with(|builder| builder.limits(capped)).run("go").await;
    expect![[r#"agent.end limit(Tokens: the token limit of 250 was reached (300 used)) """#]]
        .assert_eq(&ran.trace.only(&["agent.end"]));
    assert_eq!(ran.output().usage.total(), 3 * 190);
}

/// Answers every request after an hour.
async fn slow_person(agent: rheon_agent::Agent) -> Arc<rheon_types::AgentOutput> {
    let mut stream = agent.run_stream("go").unwrap();
    while let Some(event) = stream.next().await {
        if let AgentEvent::Approval(ApprovalEvent::Required { request }) = &event.kind {
            tokio::time::sleep(60 * MINUTE).await;
            stream.respond_permission(&request.id, PermissionDecision::Allow).unwrap();
        }
    }
    stream.finish().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_person_counts_as_no_time() {
    let capped = ExecutionLimits { duration_max: Some(MINUTE), ..limits() };
    // The gate asks before `deploy`, and `chat` asks while it runs.
    let deploy = FnTool::new("deploy", |_, _| async { Ok(ToolResult::text("deployed")) });
    let chat = FnTool::new("chat", |_, context: rheon_types::ToolContext| async move {
        let question = Subject::Arguments { arguments: Arc::default() };
        context.ask(question, "which one?").await;
        Ok(ToolResult::text("asked"))
    })
    .effect(Effect::Pure);
    let scenario = Scenario::new()
        .turn(Turn::new().tool_call("deploy", json!({})).tool_call("chat", json!({})))
        .turn(Turn::say("Done.").delay(MINUTE / 2));
    let (agent, trace, _) = scripted(scenario.clone())
        .tool(deploy)
        .tool(chat)
        .with(|builder| builder.limits(capped).permission_policy(AskFirst))
        .build();
    let output = slow_person(agent).await;
    assert_eq!(output.end, RunEnd::Completed);
    trace.assert_order();
    // What the model takes after that does count.
    let scenario = Scenario::new()
        .turn(Turn::call("deploy", json!({})).delay(MINUTE / 2))
        .turn(Turn::say("Done.").delay(MINUTE));
    let deploy = FnTool::new("deploy", |_, _| async { Ok(ToolResult::text("deployed")) });
    let (agent, _, _) = scripted(scenario)
        .tool(deploy)
        .with(|builder| builder.limits(capped).permission_policy(AskFirst))
        .build();
    assert_eq!(limit_of(&slow_person(agent).await.end), Some(LimitKind::Duration));
}
