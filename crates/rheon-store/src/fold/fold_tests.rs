//! Folds and closes logs of runs, complete and cut off at any event.

use std::sync::Arc;

use expect_test::expect;
use rheon_testkit::{FnTool, Scenario, Trace, Turn, echo, event_line, scripted};
use rheon_types::event::{Choice, OrderChecker, Selection, Subject, TaskItem, TaskStatus, UserQuestion};
use rheon_types::{
    AgentEvent, ContextEvent, Effect, Event, History, MicroUsd, ModelEvent, ProviderError, ProviderErrorKind,
    StopReason, Timestamp, ToolFact, ToolResult, Usage, unanswered_calls,
};
use serde_json::json;

use super::SessionState;

fn durable(trace: &Trace) -> Vec<Event> {
    trace.events().into_iter().filter(|event| event.kind.is_durable()).collect()
}

/// A tool of each effect, one of which asks for approval and reports progress.
fn tools() -> Vec<Arc<dyn rheon_types::Tool>> {
    let busy = FnTool::new("busy", |_, context| async move {
        let tasks = vec![TaskItem { text: "walk".into(), status: TaskStatus::InProgress }];
        context.record(ToolFact::Tasks(tasks));
        let choices = vec![Choice { label: "left".into(), description: String::new() }];
        let questions = vec![UserQuestion { text: "Which way?".into(), choices, selection: Selection::One }];
        context.ask(Subject::Questions { questions }, "it asks").await;
        Ok(ToolResult::text("done"))
    });
    let write =
        FnTool::new("write", |_, _| async { Ok(ToolResult::text("written")) }).effect(Effect::Idempotent);
    vec![Arc::new(busy.effect(Effect::Unsafe)), Arc::new(write), Arc::new(echo())]
}

fn scenario() -> Scenario {
    Scenario::new()
        .turn(Turn::new().text("half").cut())
        .turn(Turn::fail(ProviderError::new(ProviderErrorKind::Network, "gone")))
        .turn(
            Turn::new()
                .text("I begin.")
                .tool_call_with_id("a", "busy", json!({ "n": 1 }))
                .tool_call_with_id("b", "write", json!({}))
                .tool_call_with_id("c", "echo", json!({ "text": "hi" }))
                .tool_call_with_id("d", "nowhere", json!({})),
        )
        .turn("Done.")
}

/// The log of two runs.
async fn log() -> Vec<Event> {
    let ran = scripted(scenario().turn("More done.")).with(|builder| builder.tools(tools())).run("go").await;
    ran.agent.run("more").await.unwrap();
    durable(&ran.trace)
}

#[tokio::test(start_paused = true)]
async fn the_state_of_a_complete_log_matches_its_agent() {
    let ran = scripted(scenario()).with(|builder| builder.tools(tools())).run("go").await;
    let state = SessionState::from_events(&durable(&ran.trace));
    let messages: Vec<_> = ran.agent.messages().iter().cloned().collect();
    assert_eq!(state.messages(), messages);
    assert_eq!(state.open_runs().count(), 0);
    assert_eq!(state.tasks, [TaskItem { text: "walk".into(), status: TaskStatus::InProgress }]);
    assert_eq!(state.run_counts().iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>(), ["c 1"]);
    assert_eq!(state.spending.turns, 2);
    assert_eq!(state.closing_events(Timestamp::from_millis(9)), []);
}

#[tokio::test(start_paused = true)]
async fn an_imported_conversation_is_in_the_state() {
    let brought: History =
        [Arc::new(rheon_types::AgentMessage::user("I am Ada.", Timestamp::from_millis(1)))]
            .into_iter()
            .collect();
    let ran = scripted(scenario()).with(|builder| builder.tools(tools()).history(brought)).run("go").await;
    let messages: Vec<_> = ran.agent.messages().iter().cloned().collect();
    assert_eq!(SessionState::from_events(&durable(&ran.trace)).messages(), messages);
}

#[tokio::test(start_paused = true)]
async fn a_log_cut_off_anywhere_is_closed_in_order_with_a_result_for_every_call() {
    let events = log().await;
    let mut unfinished_calls = 0;
    for length in 0..=events.len() {
        let mut cut = events[..length].to_vec();
        let state = SessionState::from_events(&cut);
        unfinished_calls += state.unfinished_calls().len();
        let closing = state.closing_events(Timestamp::from_millis(9));
        cut.extend(closing);
        let mut order = OrderChecker::new();
        for event in &cut {
            order.observe(event).unwrap_or_else(|violation| panic!("cut at {length}: {violation}"));
        }
        assert!(order.open_runs().is_empty(), "cut at {length}");
        let closed = SessionState::from_events(&cut);
        assert_eq!((closed.open_runs().count(), closed.unfinished_calls().len()), (0, 0), "cut at {length}");
        assert_eq!(closed.pending_approvals(), [], "cut at {length}");
        let history: History = closed.messages().into_iter().collect();
        assert!(unanswered_calls(&history).is_empty(), "cut at {length}");
        // Earlier messages are neither changed nor lost.
        let before = state.messages();
        assert_eq!(closed.messages()[..before.len()], before, "cut at {length}");
    }
    assert!(unfinished_calls > 3, "{unfinished_calls}");
}

#[tokio::test(start_paused = true)]
async fn unfinished_calls_say_what_may_have_happened() {
    let events = log().await;
    let at = |name: &str| events.iter().position(|event| event.kind.name() == name).unwrap();
    let cut = &events[..at("tool.end")];
    let state = SessionState::from_events(cut);
    let unfinished_calls: Vec<String> = state
        .unfinished_calls()
        .iter()
        .map(|doubt| format!("{} {} {} {:?}", doubt.call_id, doubt.tool_name, doubt.arguments, doubt.effect))
        .collect();
    let closing = state.closing_events(Timestamp::from_millis(9));
    let lines: Vec<String> = closing.iter().map(|event| event_line(&event.kind)).collect();
    expect![[r#"
        a busy {"n":1} Unsafe
        b write {} Idempotent
        c echo {"text":"hi"} Pure

        tool.end busy a error "Outcome unknown: the program ended while this ran, so it may have run in part or in full. Check before you repeat it."
        tool.end write b error "Outcome unknown: the program ended while this ran. It is safe to run it again."
        tool.end echo c error "Interrupted: the program ended while this ran. It is read-only, so nothing has changed. Call it again if you need it."
        message.start toolResult
        message.end toolResult a error "Outcome unknown: the program ended while this ran, so it may have run in part or in full. Check before you repeat it."
        message.start toolResult
        message.end toolResult b error "Outcome unknown: the program ended while this ran. It is safe to run it again."
        message.start toolResult
        message.end toolResult c error "Interrupted: the program ended while this ran. It is read-only, so nothing has changed. Call it again if you need it."
        message.start toolResult
        message.end toolResult d error "there is no tool named \"nowhere\"; available: busy, write, echo"
        turn.end 0 results=4 tokens=0
        agent.end aborted "I begin.""#]].assert_eq(&format!("{}\n\n{}", unfinished_calls.join("\n"), lines.join("\n")));
}

#[test]
fn cuts_and_budget_usage_are_folded() {
    use rheon_types::event::BudgetAmount;
    let cut = rheon_types::WindowCut { from: 0, to: 1, kind: rheon_types::CutKind::Drop };
    let reserved = Some(BudgetAmount { tokens: 5_000, cost: Some(MicroUsd(70)) });
    let usage = Usage { input: 100, output: 20, ..Usage::default() };
    let end = |usage, cost| {
        AgentEvent::Model(ModelEvent::End {
            usage,
            stop_reason: StopReason::Stop,
            cost,
            first_token_ms: None,
            duration_ms: 1,
            estimated: None,
        })
    };
    let start = || AgentEvent::Model(ModelEvent::Start { model: "m".into(), tokens_estimate: 1, reserved });
    let kinds = [
        start(),
        end(usage, Some(MicroUsd(7))),
        // The second call left no trace.
        start(),
        end(Usage::default(), None),
        AgentEvent::Context(ContextEvent::CompactionEnd {
            messages_dropped: 1,
            tokens_before: 9,
            tokens_after: 3,
            summary: None,
            cuts: vec![cut.clone()],
            usage,
            cost: Some(MicroUsd(3)),
        }),
    ];
    let event = |(seq, kind)| Event {
        seq,
        at: Timestamp::default(),
        session_id: "s".into(),
        run_id: Some("s.c.1".into()),
        kind,
    };
    let events: Vec<Event> = (1..).zip(kinds).map(event).collect();
    let state = SessionState::from_events(&events);
    assert_eq!(state.cuts(), [cut]);
    let ledger = state.ledger();
    assert_eq!((ledger.tokens.spent, ledger.micro_usd.spent), (240 + 5_000, 10 + 70));
}
