//! Replay: the same events from the log alone, and the place where a log was changed.
//!
//! Every other test of this crate replays what it did too: `Trace::assert_order` does so.

use std::sync::Arc;

use expect_test::expect;
use proptest::prelude::*;
use rheon_agent::replay::{ReplayError, ReplayUntil, replay};
use rheon_agent::{ExecutionLimits, RetryConfig};
use rheon_testkit::{FnTool, Scenario, Turn, echo, fails, scripted};
use rheon_types::event::{TaskItem, TaskStatus};
use rheon_types::{
    AgentEvent, AgentMessage, Content, ContinuationKind, Event, History, LlmMessage, Message, MessageEvent,
    ModelEvent, ProviderError, ProviderErrorKind, RunEvent, Timestamp, ToolEvent, ToolFact, ToolResult,
    TurnEvent,
};
use serde_json::json;

fn durable(events: Vec<Event>) -> Vec<Event> {
    events.into_iter().filter(|event| event.kind.is_durable()).collect()
}

/// A log of several runs with a bit of everything.
async fn log() -> Vec<Event> {
    let busy = FnTool::new("busy", |_, context| async move {
        context.record(ToolFact::Tasks(vec![TaskItem { text: "walk".into(), status: TaskStatus::Pending }]));
        Ok(ToolResult::text("done"))
    });
    let scenario = Scenario::new()
        .turn(Turn::new().text("half").cut())
        .turn(Turn::fail(ProviderError::new(ProviderErrorKind::Network, "gone")))
        .turn(
            Turn::new()
                .text("I begin.")
                .tool_call_with_id("a", "busy", json!({ "n": 1.5 }))
                .tool_call_with_id("b", "echo", json!({ "text": "hi" }))
                .tool_call_with_id("c", "nowhere", json!({}))
                .tool_call_with_id("d", "fails", json!({})),
        )
        .turn("Done.")
        .turn("Again.")
        .turn("More.");
    let ran = scripted(scenario).tool(busy).tool(echo()).tool(fails()).run("go").await;
    let branch = ContinuationKind::Branch { tag: "t".into() };
    ran.agent.continue_run(branch).unwrap().finish().await.unwrap();
    ran.agent.run("more").await.unwrap();
    ran.trace.assert_order();
    durable(ran.trace.events())
}

fn difference(events: Vec<Event>) -> String {
    match replay(events, ReplayUntil::End) {
        Err(ReplayError::Differs(difference)) => format!("{} {}", difference.seq, difference.name),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_log_of_several_runs_is_replayed_to_the_byte() {
    let events = log().await;
    let replayed = replay(events.clone(), ReplayUntil::End).unwrap();
    assert_eq!(replayed.events, events);
    // The task list is what a tool reported, not what the loop decided.
    assert_eq!((replayed.runs, replayed.taken), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn a_replay_ends_after_any_event() {
    let events = log().await;
    for event in &events {
        let replayed = replay(events.clone(), ReplayUntil::Seq(event.seq)).unwrap();
        assert_eq!(replayed.events.last(), Some(event));
        assert_eq!(replayed.events.len() as u64, event.seq);
    }
}

#[tokio::test(start_paused = true)]
async fn a_changed_text_a_lost_event_and_a_changed_result_are_found() {
    let events = log().await;
    let at = |name: &str| events.iter().position(|event| event.kind.name() == name).unwrap();

    let mut text = events.clone();
    let answered = at("llm.end") - 2;
    let AgentEvent::Message(MessageEvent::End { message }) = &text[answered].kind else {
        panic!("{:?}", text[answered])
    };
    let AgentMessage::Llm(LlmMessage { message: Message::Assistant(answer), turn_id }) = &**message else {
        panic!("{message:?}")
    };
    let mut answer = answer.clone();
    answer.content[0] = Content::text("I refuse.");
    let message = LlmMessage { message: Message::Assistant(answer), turn_id: turn_id.clone() };
    text[answered].kind =
        AgentEvent::Message(MessageEvent::End { message: Arc::new(AgentMessage::Llm(message)) });
    // What the model says is an input. That the turn then ends with other words is not.
    assert_eq!(difference(text), format!("{} turn.end", at("turn.end") + 1));

    let mut lost = events.clone();
    lost.remove(at("tool.end"));
    assert_eq!(difference(lost), format!("{} tool.end", at("tool.end") + 2));

    let mut result = events.clone();
    let AgentEvent::Tool(ToolEvent::End { result: given, .. }) = &mut result[at("tool.end")].kind else {
        panic!()
    };
    *given = Arc::new(ToolResult::text("something else"));
    let told = events.iter().position(|event| match &event.kind {
        AgentEvent::Message(MessageEvent::Start { message }) => {
            matches!(message.as_llm(), Some(Message::ToolResult(_)))
        }
        _ => false,
    });
    assert_eq!(difference(result), format!("{} message.start", told.unwrap() + 1));
}

#[tokio::test(start_paused = true)]
async fn a_difference_says_what_was_there_and_what_came() {
    let ran = scripted(Scenario::new().turn("Hello.")).run("hi").await;
    let mut events = durable(ran.trace.events());
    let last = events.len() - 1;
    if let AgentEvent::Model(ModelEvent::End { duration_ms, .. }) = &mut events[last - 2].kind {
        *duration_ms = 7;
    }
    assert!(replay(events.clone(), ReplayUntil::End).is_ok(), "how long it took is an input");
    if let AgentEvent::Turn(TurnEvent::Start { turn_index, .. }) = &mut events[1].kind {
        *turn_index = 3;
    }
    let error = replay(events, ReplayUntil::End).unwrap_err();
    expect![[r#"
        the replay differs from the log: event 2 (turn.start) differs from byte 103 on:
          recorded ...0000,"session_id":"s","run_id":"s.c.1","kind":{"type":"turn.start","turn_index":3,"triggered_by":"user"}}
          replayed ...0000,"session_id":"s","run_id":"s.c.1","kind":{"type":"turn.start","turn_index":0,"triggered_by":"user"}}"#]]
    .assert_eq(&error.to_string());
}

#[tokio::test(start_paused = true)]
async fn limits_are_obeyed_again() {
    let scenario = || Scenario::new().turn(Turn::new().tool_call("echo", json!({ "text": "x" })));
    let limits = ExecutionLimits { turns_max: Some(1), ..ExecutionLimits::default() };
    let limited = scripted(scenario()).tool(echo()).with(|builder| builder.limits(limits)).run("go").await;
    let mut events = durable(limited.trace.events());
    let AgentEvent::Run(RunEvent::Start { settings: Some(settings), .. }) = &mut events[0].kind else {
        panic!()
    };
    Arc::make_mut(settings).turns_max = Some(2);
    assert!(difference(events).ends_with("message.start"));
}

#[tokio::test(start_paused = true)]
async fn imported_runs_are_copied() {
    let mut events = log().await;
    for event in &mut events {
        if let AgentEvent::Run(RunEvent::Start { settings, .. }) = &mut event.kind {
            *settings = None;
        }
    }
    let replayed = replay(events.clone(), ReplayUntil::End).unwrap();
    assert_eq!((replayed.runs, replayed.taken), (0, events.len()));
    assert_eq!(replayed.events, events);
}

#[tokio::test(start_paused = true)]
async fn an_imported_conversation_is_recorded_once_and_replayed() {
    let brought: History =
        [Arc::new(AgentMessage::user("My name is Ada.", Timestamp::from_millis(1)))].into_iter().collect();
    let scenario = Scenario::new().turn("Ada.").turn("Yes.").turn("Who?").turn("Hm.");
    let ran = scripted(scenario).with(|builder| builder.history(brought)).run("My name?").await;
    ran.agent.run("Sure?").await.unwrap();
    ran.agent.reset().unwrap();
    ran.agent.run("My name?").await.unwrap();
    ran.agent.new_session().unwrap();
    ran.agent.run("Now?").await.unwrap();
    ran.trace.assert_order();
    let told: Vec<Option<usize>> = ran
        .trace
        .events()
        .into_iter()
        .filter_map(|event| match event.kind {
            AgentEvent::Run(RunEvent::Start { history, .. }) => Some(history.map(|history| history.len())),
            _ => None,
        })
        .collect();
    assert_eq!(told, [Some(1), None, Some(0), Some(2)]);
}

#[tokio::test(start_paused = true)]
async fn pauses_between_tries_take_no_time() {
    let failing = (0..5).map(|_| Turn::fail(ProviderError::new(ProviderErrorKind::Network, "gone")));
    let scenario = failing.fold(Scenario::new(), Scenario::turn).turn("Here.");
    let retry = RetryConfig { retries_max: 9, ..RetryConfig::default() };
    let ran = scripted(scenario).with(|builder| builder.retry(retry)).run("go").await;
    let events = durable(ran.trace.events());
    // The replay does not know of this test's clock: had it waited, it would have done so for a minute.
    let before = tokio::time::Instant::now();
    assert_eq!(replay(events.clone(), ReplayUntil::End).unwrap().events, events);
    assert_eq!(before.elapsed(), std::time::Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_log_that_starts_in_the_middle_is_rejected() {
    let ran = scripted(Scenario::new().turn("Hello.")).run("hi").await;
    let events = durable(ran.trace.events()).split_off(2);
    assert_eq!(
        replay(events, ReplayUntil::End).unwrap_err().to_string(),
        "event 3 (message.start) cannot be replayed: the start of its run is not in the log"
    );
}

#[tokio::test(start_paused = true)]
async fn any_event_may_be_missing_doubled_or_moved_without_harm() {
    let events = log().await;
    for place in 0..events.len() {
        let mut lost = events.clone();
        let event = lost.remove(place);
        assert!(
            replay(lost.clone(), ReplayUntil::End).is_err() || place == events.len() - 1,
            "without {place}"
        );
        lost.insert((place + 3).min(lost.len()), event.clone());
        drop(replay(lost, ReplayUntil::End));
        let mut doubled = events.clone();
        doubled.insert(place, event);
        assert!(replay(doubled, ReplayUntil::End).is_err(), "{place} twice");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_shuffle_of_a_log_is_replayed_or_refused(order in Just((0..48usize).collect::<Vec<_>>()).prop_shuffle()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let events = runtime.block_on(log());
        let shuffled: Vec<Event> = order.into_iter().filter_map(|place| events.get(place).cloned()).collect();
        drop(replay(shuffled, ReplayUntil::End));
    }
}
