//! What a provider of our own can do wrong, and the helpers of the other adversarial tests: odd providers, odd stores,
//! and a watchdog for what may hang.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::stream;
use rheon_agent::{Agent, AgentError, ExecutionLimits};
use rheon_testkit::{FnTool, Scenario, Trace, scripted};
use rheon_types::{
    AgentEvent, Chunk, ChunkStream, Content, Draft, LimitKind, Provider, ProviderError, ProviderErrorKind,
    Request, RunEnd, RunEvent, StopReason, ToolResult, Usage,
};
use tokio_util::sync::CancellationToken;

pub(crate) type Item = Result<Chunk, ProviderError>;

/// An error that is worth another try.
const KIND: ProviderErrorKind = ProviderErrorKind::Overloaded;

/// A provider whose `n`th stream (from 0) a closure makes.
pub(crate) struct Odd<F> {
    make: F,
    asked: AtomicUsize,
}

impl<F: Fn(usize, CancellationToken) -> ChunkStream + Send + Sync> Provider for Odd<F> {
    fn id(&self) -> &str {
        "odd"
    }

    fn stream(&self, _request: Request, cancel: CancellationToken) -> ChunkStream {
        (self.make)(self.asked.fetch_add(1, Ordering::SeqCst), cancel)
    }
}

pub(crate) fn odd<F>(make: F) -> Odd<F>
where
    F: Fn(usize, CancellationToken) -> ChunkStream + Send + Sync,
{
    Odd { make, asked: AtomicUsize::new(0) }
}

pub(crate) fn chunks(items: Vec<Item>) -> ChunkStream {
    Box::pin(stream::iter(items))
}

pub(crate) fn text(delta: &str) -> Item {
    Ok(Chunk::Text { delta: delta.into() })
}

pub(crate) fn thinking(delta: &str) -> Item {
    Ok(Chunk::Thinking { delta: delta.into() })
}

pub(crate) fn usage(input: u64, output: u64) -> Item {
    Ok(Chunk::Usage { usage: Usage { input, output, ..Usage::default() } })
}

pub(crate) fn done(stop_reason: StopReason) -> Item {
    Ok(Chunk::Done { stop_reason })
}

pub(crate) fn failed(kind: ProviderErrorKind) -> Item {
    Err(ProviderError::new(kind, format!("{kind:?} happened")))
}

/// A whole tool call.
pub(crate) fn call(index: u32, id: &str, name: &str, json: &str) -> [Item; 3] {
    [
        Ok(Chunk::ToolCallStart { index, id: id.into(), name: name.into() }),
        Ok(Chunk::ToolCallDelta { index, delta: json.into() }),
        Ok(Chunk::ToolCallEnd { index }),
    ]
}

/// An agent on a provider of our own.
pub(crate) fn on(provider: impl Provider + 'static) -> (Agent, Trace) {
    let (agent, trace, _) = scripted(Scenario::new()).with(|builder| builder.provider(provider)).build();
    (agent, trace)
}

/// Runs `test` on a thread of its own and gives up after a while, so that a deadlock is a failure and not a hang. The
/// thread is then left behind.
pub(crate) fn or_deadlock<T: Send + 'static>(test: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(test()));
    match receiver.recv_timeout(Duration::from_secs(120)) {
        Ok(value) => value,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("deadlock: nothing happened for two minutes"),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("the test itself panicked"),
    }
}

/// How often a run ended.
pub(crate) fn ends(trace: &Trace) -> usize {
    trace.count(|event| matches!(event, AgentEvent::Run(RunEvent::End { .. })))
}

/// Numbers that differ, the same for the same seed.
pub(crate) struct Seeded(u64);

impl Seeded {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

#[tokio::test(start_paused = true)]
async fn what_comes_after_done_is_not_read() {
    let after = odd(|_, _| chunks(vec![text("all"), done(StopReason::Stop), text(" more"), failed(KIND)]));
    let (agent, trace) = on(after);
    assert_eq!(agent.run("go").await.unwrap().text, "all");
    trace.assert_order();
}

#[tokio::test(start_paused = true)]
async fn what_comes_after_an_error_is_not_read() {
    let (agent, trace) = on(odd(|n, _| match n {
        0 => chunks(vec![text("half"), failed(KIND), text(" ghost"), done(StopReason::Stop)]),
        _ => chunks(vec![text("whole"), done(StopReason::Stop)]),
    }));
    let output = agent.run("go").await.unwrap();
    trace.assert_order();
    assert_eq!(output.text, "whole");
    assert!(!trace.text().contains("ghost"));
}

#[tokio::test(start_paused = true)]
async fn chunks_of_closed_calls_fail_the_attempt_and_the_next_one_works() {
    let delta = |index| Ok(Chunk::ToolCallDelta { index, delta: "{}".into() });
    let start = |index| Ok(Chunk::ToolCallStart { index, id: "a".into(), name: "echo".into() });
    let end = |index| Ok(Chunk::ToolCallEnd { index });
    let streams: Vec<Vec<Item>> = vec![
        vec![delta(7)],
        vec![end(u32::MAX)],
        vec![start(0), start(0)],
        vec![start(0), end(0), delta(0)],
        vec![start(0), end(0), end(0)],
    ];
    for stream in streams {
        let shown = format!("{stream:?}");
        let (agent, trace) = on(odd(move |n, _| match n {
            0 => chunks(stream.clone()),
            _ => chunks(vec![text("fine"), done(StopReason::Stop)]),
        }));
        assert_eq!(agent.run("go").await.unwrap().text, "fine", "{shown}");
        trace.assert_order();
    }
}

#[tokio::test(start_paused = true)]
async fn an_endless_stream_of_nothing_can_be_cancelled() {
    let (agent, trace, _) = scripted(Scenario::new())
        .with(|builder| builder.provider(odd(|_, _| Box::pin(stream::repeat(text(""))))))
        .build();
    let stop = async {
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        agent.abort();
    };
    let (output, ()) = tokio::join!(agent.run("go"), stop);
    assert_eq!(output.unwrap().end, RunEnd::Aborted);
    trace.assert_order();
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_never_wakes_can_be_cancelled() {
    let (agent, trace) = on(odd(|_, _| Box::pin(stream::pending())));
    let mut events = agent.run_stream("go").unwrap();
    while let Some(event) = events.next().await {
        if event.kind.name() == "llm.start" {
            events.cancel();
        }
    }
    trace.assert_order();
    assert_eq!(events.finish().await.unwrap().end, RunEnd::Aborted);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_panics_fails_the_run_in_order() {
    let streams: Vec<fn() -> ChunkStream> = vec![
        || panic!("in stream()"),
        || Box::pin(stream::poll_fn(|_| panic!("in the first poll"))),
        half_then_panic,
    ];
    for (number, make) in streams.into_iter().enumerate() {
        let (agent, trace) = on(odd(move |n, _| match n {
            0 => make(),
            _ => chunks(vec![text("fine"), done(StopReason::Stop)]),
        }));
        let result = agent.run("go").await;
        assert!(matches!(result, Err(AgentError::Failed { .. })), "{number}: {result:?}");
        assert_eq!(ends(&trace), 1);
        trace.assert_order();
        assert_eq!(agent.run("again").await.unwrap().text, "fine");
        trace.assert_order();
    }
}

fn half_then_panic() -> ChunkStream {
    let mut polls = 0;
    Box::pin(stream::poll_fn(move |_| {
        polls += 1;
        assert!(polls == 1, "in a later poll");
        Poll::Ready(Some(text("half")))
    }))
}

#[tokio::test(start_paused = true)]
async fn absurd_usage_meets_the_token_limit_and_overflows_nothing() {
    let (agent, trace, _) = scripted(Scenario::new())
        .tool(FnTool::new("echo", |_, _| async { Ok(ToolResult::text("ok")) }))
        .with(|builder| {
            let limits =
                ExecutionLimits { turns_max: Some(5), tokens_max: Some(1_000_000), duration_max: None };
            builder.limits(limits).provider(odd(|_, _| {
                let mut items = call(0, "a", "echo", "{}").to_vec();
                items.extend([usage(u64::MAX, u64::MAX), done(StopReason::ToolUse)]);
                chunks(items)
            }))
        })
        .build();
    let output = agent.run("go").await.unwrap();
    trace.assert_order();
    assert_eq!((output.usage.total(), output.turns), (u64::MAX, 1));
    assert!(matches!(output.end, RunEnd::Limit { limit: LimitKind::Tokens, .. }));
}

#[tokio::test(start_paused = true)]
async fn an_answer_with_an_error_stop_reason_fails() {
    for reason in [StopReason::Error, StopReason::Aborted] {
        let (agent, trace) = on(odd(move |_, _| chunks(vec![text("half an ans"), done(reason)])));
        let result = agent.run("go").await;
        trace.assert_order();
        let completed = matches!(&result, Ok(output) if output.end == RunEnd::Completed);
        assert!(!completed, "{reason:?} became {result:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_calls_of_an_answer_that_says_it_was_aborted_do_not_run() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let tool = FnTool::new("act", move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok(ToolResult::text("done")) }
    });
    let (agent, trace, _) = scripted(Scenario::new())
        .tool(tool)
        .with(|builder| {
            builder.provider(odd(|n, _| match n {
                0 => {
                    let mut items = call(0, "a", "act", "{}").to_vec();
                    items.push(done(StopReason::Aborted));
                    chunks(items)
                }
                _ => chunks(vec![text("ok"), done(StopReason::Stop)]),
            }))
        })
        .build();
    agent.run("go").await.ok();
    trace.assert_order();
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn tokens_of_an_attempt_that_failed_before_its_first_word_are_counted() {
    let (agent, trace) = on(odd(|n, _| match n {
        0 => chunks(vec![usage(100, 0), failed(KIND)]),
        _ => chunks(vec![usage(100, 0), text("ok"), usage(100, 1), done(StopReason::Stop)]),
    }));
    let output = agent.run("go").await.unwrap();
    trace.assert_order();
    assert_eq!(output.usage.total(), 201, "both attempts were billed");
}

/// Stops its background work when its stream is dropped, as a provider may.
struct Guarded {
    items: stream::Iter<std::vec::IntoIter<Item>>,
    _stop: tokio_util::sync::DropGuard,
}

impl futures::Stream for Guarded {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Item>> {
        Pin::new(&mut self.items).poll_next(context)
    }
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_cancels_its_own_token_ends_its_call_and_not_the_run() {
    let (agent, trace) = on(odd(|_, cancel| {
        let items = stream::iter(vec![text("ok"), done(StopReason::Stop)]);
        Box::pin(Guarded { items, _stop: cancel.drop_guard() })
    }));
    let output = agent.run("go").await.unwrap();
    trace.assert_order();
    assert_eq!(output.end, RunEnd::Completed);
}

#[test]
fn a_draft_of_countless_empty_pieces_is_bounded() {
    let mut draft = Draft::new();
    // Each change between text and thinking opens a block of more than 32 bytes, so this many pass the cap.
    let pieces = rheon_types::DRAFT_BYTES_MAX / 32;
    for n in 0..pieces {
        let piece = if n % 2 == 0 { text("") } else { thinking("") };
        if draft.push(&piece.unwrap()).is_err() {
            return;
        }
    }
    let blocks = draft.finish(StopReason::Stop).content.len();
    assert!(blocks < 1_000, "{blocks} blocks were kept of an answer that weighs nothing");
}

#[test]
fn an_empty_delta_leaves_no_empty_block() {
    let mut draft = Draft::new();
    for item in [vec![text(""), thinking("")], call(0, "a", "echo", "{}").to_vec()].concat() {
        draft.push(&item.unwrap()).unwrap();
    }
    draft.push(&Chunk::Done { stop_reason: StopReason::ToolUse }).unwrap();
    let content = draft.finish(StopReason::Error).content;
    // Services refuse a message with an empty block of text, now and in every later request.
    assert!(matches!(content.as_slice(), [Content::ToolCall(_)]), "{content:?}");
}
