//! Cut responses in the agent loop: no duplicate text, no partial call runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rheon_providers::wire::WireKind;
use rheon_testkit::server::{FakeReply, Fault, ReplyBlock};
use rheon_testkit::{FnTool, Trace, live};
use rheon_types::{AgentEvent, AssistantMessage, Chunk, MessageEvent, ModelEvent, StopReason, ToolResult};
use serde_json::json;

use super::fixture::{Answer, Fixture};
use super::recording::Tape;

/// The result of one run.
struct RetryRun {
    trace: Trace,
    output: String,
    runs: usize,
    requests: usize,
}

async fn run(wire: WireKind, replies: Vec<FakeReply>) -> RetryRun {
    let fixture = Fixture::wire(wire, replies).await;
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let tool = FnTool::new("read", move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok(ToolResult::text("the file")) }
    });
    let (builder, trace) = live(Arc::clone(&fixture.resolved.provider), &fixture.resolved.model);
    let agent = builder.tool(tool).build().unwrap();
    let output = agent.run("Go.").await.unwrap();
    trace.assert_order();
    let requests = fixture.server.requests().len();
    RetryRun { trace, output: output.text.clone(), runs: runs.load(Ordering::SeqCst), requests }
}

impl RetryRun {
    /// All shown text, in order.
    fn shown(&self) -> String {
        let shown = |event: &rheon_types::Event| match &event.kind {
            AgentEvent::Message(MessageEvent::TextDelta { delta }) => delta.to_string(),
            _ => String::new(),
        };
        self.trace.events().iter().map(shown).collect()
    }

    /// The completed responses, in order.
    fn answers(&self) -> Vec<AssistantMessage> {
        let events = self.trace.events();
        let ended = events.iter().filter_map(|event| match &event.kind {
            AgentEvent::Message(MessageEvent::End { message }) => message.as_assistant().cloned(),
            _ => None,
        });
        ended.collect()
    }

    fn retries(&self) -> usize {
        self.trace.count(|event| matches!(event, AgentEvent::Model(ModelEvent::Retry { .. })))
    }
}

#[tokio::test]
async fn cut_before_any_output_is_retried_silently() {
    for wire in WireKind::ALL {
        for cut in [Fault::Hangup, Fault::CutAtByte(0), Fault::EndAfterEvent(0), Fault::CutAtByte(9)] {
            let run_result =
                run(wire, vec![FakeReply::text("All done.").with(cut.clone()), FakeReply::text("All done.")])
                    .await;
            assert_eq!(
                (run_result.shown().as_str(), run_result.output.as_str()),
                ("All done.", "All done."),
                "{wire:?} {cut:?}"
            );
            let ends: Vec<_> = run_result.answers().iter().map(|answer| answer.stop_reason).collect();
            assert_eq!((ends, run_result.retries()), (vec![StopReason::Stop], 1), "{wire:?} {cut:?}");
        }
    }
}

#[tokio::test]
async fn cut_after_text_is_marked_and_retried() {
    let reply = || FakeReply::text("one two three").delta_chars(4);
    for wire in WireKind::ALL {
        let tape = Tape::new(wire).await;
        let event = tape.event_where(&reply(), |part| !part.text().is_empty()).await;
        for cut in [Fault::CutAfterEvent(event), Fault::EndAfterEvent(event)] {
            let run_result = run(wire, vec![reply().with(cut.clone()), FakeReply::text("All done.")]).await;
            let answers = run_result.answers();
            let [first, second] = answers.as_slice() else { panic!("{wire:?} {cut:?}: {answers:?}") };
            assert_eq!(
                (first.text().as_str(), first.stop_reason),
                ("one ", StopReason::Error),
                "{wire:?} {cut:?}"
            );
            assert!(first.error_message.is_some(), "{wire:?} {cut:?}");
            assert_eq!((second.text().as_str(), second.stop_reason), ("All done.", StopReason::Stop));
            assert_eq!(
                (run_result.shown().as_str(), run_result.output.as_str()),
                ("one All done.", "All done."),
                "{wire:?}"
            );
            assert_eq!(run_result.requests, 2, "{wire:?} {cut:?}");
        }
    }
}

#[tokio::test]
async fn partial_tool_call_never_runs() {
    let reply = || {
        let arguments = json!({"path": "a rather long path.txt"}).to_string();
        let signature = Some("c2lnbmF0dXJl".to_owned());
        FakeReply::empty()
            .and(ReplyBlock::Call { id: None, name: "read".into(), arguments, signature })
            .delta_chars(6)
    };
    let begun = |part: &Answer| part.chunks.iter().any(|chunk| matches!(chunk, Chunk::ToolCallStart { .. }));
    let ended = |part: &Answer| part.chunks.iter().any(|chunk| matches!(chunk, Chunk::ToolCallEnd { .. }));
    for wire in WireKind::ALL {
        let tape = Tape::new(wire).await;
        let whole = tape.record(reply()).await.bytes.len();
        let mut cuts = Vec::new();
        for found in [&begun as &dyn Fn(&Answer) -> bool, &ended] {
            let event = tape.event_where(&reply(), found).await;
            let part = tape.record(reply().with(Fault::EndAfterEvent(event))).await;
            if part.bytes.len() < whole && !part.whole().is_done() {
                cuts.extend([Fault::CutAfterEvent(event), Fault::EndAfterEvent(event)]);
            }
        }
        cuts.push(Fault::CutAtByte(whole / 2));
        for cut in cuts {
            let replies = vec![reply().with(cut.clone()), reply(), FakeReply::text("All done.")];
            let run_result = run(wire, replies).await;
            assert_eq!(
                (run_result.runs, run_result.requests),
                (1, 3),
                "{wire:?} {cut:?}:\n{}",
                run_result.trace.durable_text()
            );
            assert_eq!(run_result.output, "All done.", "{wire:?} {cut:?}");
        }
    }
}
