//! Real, interleaved runs of many kinds: nothing stays open, and the totals agree.

use proptest::prelude::*;
use rheon_testkit::{Scenario, Turn, echo, fails, fatal, hangs, panics, scripted};
use rheon_types::event::OrderChecker;
use rheon_types::{
    AgentEvent, Event, MessageEvent, ModelEvent, ProviderError, ProviderErrorKind, RunEvent, SessionId,
    ToolEvent, Usage,
};
use serde_json::json;

use super::{DroppedCounts, Session, SessionRecorder, SessionRecorderConfig};

/// What the model does in a turn.
#[derive(Debug, Clone, Copy)]
enum Act {
    Say,
    Echo(u8),
    Fails,
    Panics,
    Fatal,
    Hangs,
    Unknown,
    Refused,
    Cut,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        2 => Just(Act::Say),
        4 => (1u8..4).prop_map(Act::Echo),
        1 => Just(Act::Fails),
        1 => Just(Act::Panics),
        1 => Just(Act::Fatal),
        1 => Just(Act::Hangs),
        1 => Just(Act::Unknown),
        1 => Just(Act::Refused),
        1 => Just(Act::Cut),
    ]
}

fn turn(act: Act, n: usize) -> Turn {
    let usage = Usage { input: 100 + n as u64, output: 7, cache_read: 3, ..Usage::default() };
    let text = Turn::new().text("Let me see.").usage(usage);
    match act {
        Act::Say => text,
        Act::Echo(calls) => {
            (0..calls).fold(text, |turn, call| turn.tool_call("echo", json!({ "text": call.to_string() })))
        }
        Act::Fails => text.tool_call("fails", json!({})).tool_call("echo", json!({ "text": "é" })),
        Act::Panics => text.tool_call("panics", json!({})),
        Act::Fatal => text.tool_call("fatal", json!({})),
        Act::Hangs => text.tool_call("hangs", json!({})),
        Act::Unknown => text.tool_call("nothing", json!({})),
        Act::Refused => Turn::fail(ProviderError::new(ProviderErrorKind::Auth, "no key")),
        Act::Cut => text.cut(),
    }
}

/// The events of two prompts to one agent. The first is canceled after `cancel_after` events.
async fn events_of(session: &str, acts: &[Act], cancel_after: usize) -> Vec<Event> {
    let mut scenario = Scenario::new();
    for (n, act) in acts.iter().enumerate() {
        scenario = scenario.turn(turn(*act, n));
    }
    scenario = scenario.turn(Turn::say("That is all.").repeat());
    let (agent, trace, _) = scripted(scenario)
        .tool(echo())
        .tool(fails())
        .tool(fatal())
        .tool(hangs())
        .tool(panics())
        .with(|builder| builder.session(session))
        .build();
    for prompt in ["first", "second"] {
        let mut stream = agent.run_stream(prompt).unwrap();
        let mut seen = 0;
        while let Some(event) = stream.next().await {
            let hangs = matches!(&event.kind, AgentEvent::Tool(ToolEvent::Start { name, .. }) if name.as_str() == "hangs");
            seen += 1;
            if hangs || seen == cancel_after {
                stream.cancel();
            }
        }
        drop(stream.finish().await);
    }
    trace.assert_order();
    trace.events()
}

/// Interleaves the logs, each in its own order.
fn dealt(logs: Vec<Vec<Event>>, order: &[u8]) -> Vec<Event> {
    let mut logs: Vec<_> = logs.into_iter().map(Vec::into_iter).collect();
    let mut events = Vec::new();
    for pick in order.iter().cycle() {
        let chosen = usize::from(*pick) % logs.len();
        match logs[chosen].next() {
            Some(event) => events.push(event),
            None => drop(logs.remove(chosen)),
        }
        if logs.is_empty() {
            break;
        }
    }
    events
}

fn check(events: &[Event]) {
    let mut order = OrderChecker::new();
    let mut recorder = SessionRecorder::new(SessionRecorderConfig::default());
    for event in events {
        order.observe(event).unwrap();
        recorder.on_event(event);
        assert_eq!(
            recorder.current_loop(event.run_id.as_ref().unwrap()).is_some(),
            !is_end(event),
            "{event:?}"
        );
    }
    assert_eq!(recorder.dropped(), DroppedCounts::default());
    let sessions = recorder.drain_completed();
    assert_eq!(recorder.sessions().count(), 0);
    for session in &sessions {
        check_session(session, events);
        let text = serde_json::to_string(session).unwrap();
        assert_eq!(serde_json::from_str::<Session>(&text).unwrap(), *session);
    }
}

fn is_end(event: &Event) -> bool {
    matches!(event.kind, AgentEvent::Run(RunEvent::End { .. }))
}

fn check_session(session: &Session, events: &[Event]) {
    let of = |id: &SessionId| events.iter().filter(move |event| event.session_id == *id).collect::<Vec<_>>();
    let mine = of(&session.session_id);
    let mut total = Usage::default();
    for record in &session.loops {
        assert!(!record.status.is_open());
        let run: Vec<_> = mine.iter().filter(|event| event.belongs_to(&record.loop_id)).collect();
        let mut sum = Usage::default();
        let mut messages = 0;
        for event in &run {
            match &event.kind {
                AgentEvent::Model(ModelEvent::End { usage, .. }) => sum += *usage,
                AgentEvent::Message(MessageEvent::End { .. }) => messages += 1,
                AgentEvent::Run(RunEvent::End { output }) => assert_eq!(output.messages, record.messages),
                _ => {}
            }
        }
        assert_eq!(sum.total(), record.usage.total());
        assert_eq!((sum.input, sum.output), (record.usage.input, record.usage.output));
        assert!(record.messages.len() <= messages);
        let durable = run.iter().filter(|event| event.kind.is_durable()).count();
        assert_eq!(record.events.len(), durable);
        total += record.usage;
    }
    assert_eq!(session.total_usage(), total);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_run_stays_open_and_the_sums_agree(
        runs in prop::collection::vec((prop::collection::vec(act(), 0..5), 1usize..60), 1..4),
        order in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let mut logs = Vec::new();
        for (n, (acts, cancel_after)) in runs.iter().enumerate() {
            logs.push(runtime.block_on(events_of(&format!("s{n}"), acts, *cancel_after)));
        }
        check(&dealt(logs, &order));
    }
}
