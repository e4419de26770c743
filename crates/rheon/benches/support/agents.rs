//! The cases that run an agent.

use std::any::Any;
use std::hint::black_box;

use rheon::agent::{EventSubscription, ToolExecution};
use rheon::context::WindowSettings;
use rheon::providers::scripted::ScriptedProvider;
use rheon::types::{AgentEvent, AllowAll, Event, MessageEvent, RunEnd, RunEvent};
use rheon::{Agent, AgentBuilder};
use tokio::sync::broadcast::error::RecvError;

use super::Job;
use super::fixtures::{ANSWER, DELTA, Noop, PROMPT, answers, asks_once, conversation, streams};

/// Who watches a run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Observers {
    /// No observer.
    None,
    /// A callback.
    Callback,
    /// So many subscribers of the broadcast, each a task of its own.
    Broadcast(usize),
    /// The caller, through the stream of the run.
    Stream,
}

impl Observers {
    /// Those whose cost per delta is compared, each with its name.
    pub(super) const ALL: [(Self, &str); 4] = [
        (Self::None, "none"),
        (Self::Callback, "callback"),
        (Self::Broadcast(1), "broadcast_1"),
        (Self::Stream, "stream"),
    ];
}

/// An agent as its user would build it, with a window that holds the longest conversation: nothing is compacted.
fn builder(provider: ScriptedProvider) -> AgentBuilder {
    let window = WindowSettings { tokens_max: Some(10_000_000), ..WindowSettings::default() };
    let builder = Agent::builder().provider(provider).model("scripted").window(window);
    builder.permission_policy(AllowAll).max_turns(u32::MAX)
}

fn build(builder: AgentBuilder) -> Agent {
    builder.build().expect("the agent of a benchmark must be buildable")
}

/// Whole runs of one text turn each, on one agent.
pub(super) fn text_runs(runs: u32) -> Job {
    let agent = build(builder(answers()));
    Box::pin(async move {
        for _ in 0..runs {
            let output = agent.run(PROMPT).await.expect("the run completes");
            assert_eq!(output.text.len(), ANSWER.len());
            black_box(output);
        }
        Box::new(agent) as Box<dyn Any>
    })
}

/// One run of so many text turns: all but the first answer a follow-up.
pub(super) fn text_turns(turns: u32) -> Job {
    let agent = build(builder(answers()));
    for _ in 1..turns {
        agent.follow_up(PROMPT);
    }
    Box::pin(async move {
        let output = agent.run(PROMPT).await.expect("the run completes");
        assert_eq!(output.turns, turns);
        Box::new((agent, output)) as Box<dyn Any>
    })
}

/// One run whose answer has so many deltas, in a conversation of so many messages.
pub(super) fn deltas(watch: Observers, messages: usize, deltas: u32) -> Job {
    let builder = builder(streams(deltas)).history(conversation(messages));
    let agent = match watch {
        Observers::None | Observers::Stream => build(builder),
        Observers::Callback => build(builder.on_event(|event| {
            black_box(event);
        })),
        Observers::Broadcast(_) => build(builder.enable_broadcast(1024)),
    };
    Box::pin(async move {
        let length = match watch {
            Observers::None | Observers::Callback => text_length(&agent).await,
            Observers::Broadcast(subscribers) => watched_length(&agent, subscribers, deltas).await,
            Observers::Stream => streamed_length(&agent, deltas).await,
        };
        assert_eq!(length, DELTA.len() * deltas as usize);
        Box::new(agent) as Box<dyn Any>
    })
}

async fn text_length(agent: &Agent) -> usize {
    agent.run(PROMPT).await.expect("the run completes").text.len()
}

async fn watched_length(agent: &Agent, subscribers: usize, deltas: u32) -> usize {
    let subscribe = |_| tokio::spawn(read(agent.subscribe().expect("the broadcast is enabled")));
    let readers: Vec<_> = (0..subscribers).map(subscribe).collect();
    let length = text_length(agent).await;
    for reader in readers {
        assert_eq!(reader.await.expect("a subscriber reads to the end"), deltas);
    }
    length
}

/// Reads one run to its end and counts its deltas.
async fn read(mut events: EventSubscription) -> u32 {
    let mut deltas = 0;
    loop {
        match events.recv().await {
            Ok(event) => {
                deltas += is_delta(&event);
                if matches!(event.kind, AgentEvent::Run(RunEvent::End { .. })) {
                    return deltas;
                }
            }
            Err(RecvError::Lagged(missed)) => panic!("a subscriber missed {missed} events"),
            Err(RecvError::Closed) => return deltas,
        }
    }
}

async fn streamed_length(agent: &Agent, deltas: u32) -> usize {
    let mut stream = agent.run_stream(PROMPT).expect("the run begins");
    let mut seen = 0;
    while let Some(event) = stream.next().await {
        seen += is_delta(&event);
    }
    assert_eq!(seen, deltas);
    stream.finish().await.expect("the run completes").text.len()
}

fn is_delta(event: &Event) -> u32 {
    u32::from(matches!(event.kind, AgentEvent::Message(MessageEvent::TextDelta { .. })))
}

/// One run with so many tool calls in its first turn, all at once.
pub(super) fn parallel_calls(calls: u32) -> Job {
    tool_calls(ToolExecution::Parallel, calls)
}

/// One run with so many tool calls in its first turn, one after the other.
pub(super) fn sequential_calls(calls: u32) -> Job {
    tool_calls(ToolExecution::Sequential, calls)
}

fn tool_calls(execution: ToolExecution, calls: u32) -> Job {
    let agent = build(builder(asks_once(calls)).tool(Noop).tool_execution(execution));
    Box::pin(async move {
        let output = agent.run(PROMPT).await.expect("the run completes");
        // The prompt, the request for tools, their results, the answer.
        assert_eq!(output.messages.len(), calls as usize + 3);
        Box::new((agent, output)) as Box<dyn Any>
    })
}

/// One run of so many turns, each with one tool call; a limit ends it.
pub(super) fn tool_turns(provider: ScriptedProvider, turns: u32) -> Job {
    let agent = build(builder(provider).tool(Noop).max_turns(turns));
    Box::pin(async move {
        let output = agent.run(PROMPT).await.expect("the run ends in order");
        assert!(matches!(output.end, RunEnd::Limit { .. }) && output.turns == turns);
        Box::new((agent, output)) as Box<dyn Any>
    })
}
