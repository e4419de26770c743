//! Callbacks that call back into the agent while it speaks, and streams that are left in odd ways.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use rheon_agent::{
    Agent, AgentContext, AgentError, EventLog, EventSubscription, Observers, RunStream, agent_loop,
};
use rheon_testkit::{FnTool, Scenario, ScriptedProvider, TestClock, Trace, Turn, echo, scripted};
use rheon_types::event::PermissionDecision;
use rheon_types::{
    AgentEvent, AgentMessage, AllowAll, AskFirst, Effect, Event, MessageEvent, RunEnd, Timestamp, ToolEvent,
    ToolResult,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::adversarial::{ends, or_deadlock};
use crate::adversarial_drop::Parts;

fn runtime(threads: usize) -> tokio::runtime::Runtime {
    let mut builder = match threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.worker_threads(threads).enable_time().build().unwrap()
}

fn talks() -> FnTool {
    FnTool::new("talks", |_, context| async move {
        for _ in 0..5 {
            context.progress("still here");
            context.update(ToolResult::text("half"));
            tokio::task::yield_now().await;
        }
        Ok(ToolResult::text("whole"))
    })
}

fn scenario() -> Scenario {
    let calls = Turn::new()
        .text("Let me look.")
        .tool_call("talks", json!({}))
        .tool_call("talks", json!({}))
        .tool_call("echo", json!({ "text": "hi" }));
    Scenario::new().turn(calls).turn(Turn::say("Done.").repeat())
}

/// An agent with a callback that is given the agent itself.
fn reentrant(callback: impl Fn(&Agent, &Event) + Send + Sync + 'static) -> (Agent, Trace) {
    let slot: Arc<OnceLock<Agent>> = Arc::default();
    let inside = Arc::clone(&slot);
    let (agent, trace, _) = scripted(scenario())
        .tool(talks())
        .tool(echo())
        .with(|builder| {
            builder.enable_broadcast(8).on_event(move |event| {
                if let Some(agent) = inside.get() {
                    callback(agent, event);
                }
            })
        })
        .build();
    slot.set(agent.clone()).ok().unwrap();
    (agent, trace)
}

#[test]
fn a_callback_may_use_the_agent_at_any_event() {
    for threads in [1, 4] {
        or_deadlock(move || {
            runtime(threads).block_on(async {
                let (agent, trace) = reentrant(|agent, event| {
                    assert!(agent.messages().len() < 100);
                    assert!(agent.queue_lengths().0 < 100);
                    assert!(event.kind.name() == "agent.end" || agent.is_running());
                    agent.subscribe().map(drop).unwrap();
                    assert_eq!(agent.session_id(), event.session_id);
                    assert!(
                        agent.attach_approver().respond(&"none".into(), PermissionDecision::Allow).is_err()
                    );
                    if event.kind.name() != "agent.end" {
                        assert!(matches!(agent.reset(), Err(AgentError::Busy)));
                        assert!(matches!(agent.run_stream("more").err(), Some(AgentError::Busy)));
                        assert!(matches!(agent.new_session(), Err(AgentError::Busy)));
                    }
                });
                assert_eq!(agent.run("go").await.unwrap().text, "Done.");
                trace.assert_order();
            });
        });
    }
}

#[test]
fn a_callback_may_abort_the_run_at_any_event() {
    for threads in [1, 4] {
        or_deadlock(move || {
            runtime(threads).block_on(async {
                for name in
                    ["agent.start", "message.end", "text.delta", "tool.start", "tool.progress", "tool.end"]
                {
                    let (agent, trace) = reentrant(move |agent, event| {
                        if event.kind.name() == name {
                            agent.abort();
                        }
                    });
                    assert_eq!(agent.run("go").await.unwrap().end, RunEnd::Aborted, "{name}");
                    trace.assert_order();
                }
            });
        });
    }
}

#[test]
fn a_callback_may_begin_the_next_run_when_it_sees_the_end() {
    for threads in [1, 4] {
        or_deadlock(move || {
            runtime(threads).block_on(async {
                let begun: Arc<Mutex<(bool, Option<RunStream>)>> = Arc::default();
                let inside = Arc::clone(&begun);
                let (agent, trace) = reentrant(move |agent, event| {
                    let mut begun = inside.lock().unwrap();
                    if event.kind.name() == "agent.end" && !begun.0 {
                        *begun = (true, Some(agent.run_stream("and now?").unwrap()));
                    }
                });
                agent.run("go").await.unwrap();
                let stream = begun.lock().unwrap().1.take().unwrap();
                assert_eq!(stream.finish().await.unwrap().text, "Done.");
                assert_eq!(ends(&trace), 2);
                trace.assert_order();
            });
        });
    }
}

#[test]
fn a_callback_may_drop_the_stream_and_the_last_handle() {
    for threads in [1, 4] {
        for name in ["agent.start", "text.delta", "tool.start", "tool.progress", "agent.end"] {
            or_deadlock(move || drop_inside(threads, name));
        }
    }
}

fn drop_inside(threads: usize, name: &'static str) {
    runtime(threads).block_on(async {
        let held: Arc<Mutex<Option<(Agent, RunStream)>>> = Arc::default();
        let inside = Arc::clone(&held);
        let (agent, trace, _) = scripted(scenario())
            .tool(talks())
            .tool(echo())
            .with(|builder| {
                builder.enable_broadcast(1_024).on_event(move |event| {
                    if event.kind.name() == name {
                        drop(inside.lock().unwrap().take());
                    }
                })
            })
            .build();
        let mut events: EventSubscription = agent.subscribe().unwrap();
        {
            let mut held = held.lock().unwrap();
            let stream = agent.run_stream("go").unwrap();
            *held = Some((agent, stream));
        }
        while events.recv().await.is_ok_and(|event| event.kind.name() != "agent.end") {}
        trace.assert_order();
    });
}

#[test]
fn a_callback_may_read_the_logs_position() {
    or_deadlock(|| {
        runtime(1).block_on(async {
            let slot: Arc<OnceLock<EventLog>> = Arc::default();
            let inside = Arc::clone(&slot);
            let observers = Observers::default().on_event(move |event| {
                assert!(inside.get().is_none_or(|log| log.seq() >= event.seq));
            });
            let log = EventLog::new("s".into(), Arc::new(TestClock::default()), None, observers);
            slot.set(log.clone()).ok().unwrap();
            let parts = Parts::new(Scenario::new().turn("Fine."), Vec::new());
            let mut context = AgentContext::new("a".into());
            let prompts = vec![AgentMessage::user("go", Timestamp::default())];
            let cancel = CancellationToken::new();
            let output = agent_loop(prompts, &mut context, &parts.config, &log, &cancel).await;
            assert_eq!(output.text, "Fine.");
        });
    });
}

#[tokio::test(start_paused = true)]
async fn a_stream_may_be_left_at_once_and_finished_after_a_cancel() {
    let (agent, trace, _) = scripted(scenario()).tool(talks()).tool(echo()).build();
    drop(agent.run_stream("never read").unwrap());
    while agent.is_running() {
        tokio::task::yield_now().await;
    }
    let stream = agent.run_stream("go").unwrap();
    assert!(agent.run_stream("second").is_err());
    tokio::task::yield_now().await;
    stream.cancel();
    stream.cancel();
    assert_eq!(stream.finish().await.unwrap().end, RunEnd::Aborted);
    trace.assert_order();
}

#[tokio::test(start_paused = true)]
async fn a_stream_outlives_the_agent() {
    let (agent, trace, _) = scripted(scenario()).tool(talks()).tool(echo()).build();
    let stream = agent.run_stream("go").unwrap();
    drop(agent);
    assert_eq!(stream.finish().await.unwrap().text, "Done.");
    trace.assert_order();
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_read_to_its_end_answers_for_no_later_run() {
    let deploy =
        || FnTool::new("deploy", |_, _| async { Ok(ToolResult::text("deployed")) }).effect(Effect::Unsafe);
    let scenario = Scenario::new().turn("Hello.").turn(Turn::call("deploy", json!({}))).turn("Done.");
    let (agent, trace, _) =
        scripted(scenario).tool(deploy()).with(|builder| builder.permission_policy(AskFirst)).build();
    let mut first = agent.run_stream("hello").unwrap();
    while first.next().await.is_some() {}
    // Nobody sees the questions of this run, so it must not wait for an answer.
    let second = tokio::time::timeout(Duration::from_secs(60), agent.run("ship it")).await;
    assert!(second.is_ok(), "the run waits for a reader that is done: {}", trace.only(&["approval."]));
    trace.assert_order();
    drop(first);
}

const MEBIBYTE: usize = 1024 * 1024;

#[tokio::test(start_paused = true)]
async fn unread_tool_updates_are_bounded_in_bytes() {
    let shows = FnTool::new("shows", |_, context| async move {
        for _ in 0..64 {
            context.update(ToolResult::text("x".repeat(MEBIBYTE)));
        }
        Ok(ToolResult::text("done"))
    });
    // No callback: only the stream keeps events.
    let provider = ScriptedProvider::new(Scenario::new().turn(Turn::call("shows", json!({}))).turn("Ok."));
    let agent = Agent::builder().provider(provider).permission_policy(AllowAll).tool(shows).build().unwrap();
    let mut stream = agent.run_stream("go").unwrap();
    while agent.is_running() {
        tokio::task::yield_now().await;
    }
    let mut waiting = 0;
    while let Some(event) = stream.next().await {
        if let AgentEvent::Tool(ToolEvent::Update { partial, .. }) = &event.kind {
            waiting += partial.as_text().len();
        }
    }
    assert!(waiting <= 32 * MEBIBYTE, "{} MiB waited for a reader", waiting / MEBIBYTE);
}

/// The text a reader of the deltas puts together, and the text of the whole messages.
fn texts(events: &[Arc<Event>]) -> (String, String) {
    let (mut deltas, mut whole) = (String::new(), String::new());
    for event in events {
        match &event.kind {
            AgentEvent::Message(MessageEvent::TextDelta { delta }) => deltas.push_str(delta),
            AgentEvent::Message(MessageEvent::End { message }) => {
                whole.push_str(&message.as_assistant().map(|answer| answer.text()).unwrap_or_default());
            }
            _ => {}
        }
    }
    (deltas, whole)
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_pauses_at_any_point_loses_no_delta() {
    for words in 995..1_025 {
        let long: String = (0..words).map(|n| format!("w{n} ")).collect();
        let calls = Turn::say(long).tool_call("echo", json!({ "text": "hi" }));
        let scenario = Scenario::new().turn(calls).turn("And that was all.");
        let (agent, trace, _) = scripted(scenario).tool(echo()).build();
        let mut stream = agent.run_stream("go").unwrap();
        for _ in 0..2_000 {
            tokio::task::yield_now().await;
        }
        let mut events = Vec::new();
        while let Some(event) = stream.next().await {
            events.push(event);
        }
        trace.assert_order();
        let (deltas, whole) = texts(&events);
        assert!(deltas == whole, "{words} words: the reader lost a delta: {:?}", lost(&deltas, &whole));
    }
}

/// The first word of `whole` that `deltas` lacks.
fn lost<'a>(deltas: &str, whole: &'a str) -> Option<&'a str> {
    whole.split_inclusive(' ').find(|word| !deltas.contains(word))
}
