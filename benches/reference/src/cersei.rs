//! Cersei, through `Agent::run_stream`. Its compaction is off: at these lengths it would only estimate tokens.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use cersei_agent::Agent;
use cersei_provider::{CompletionRequest, CompletionStream, Provider, ProviderCapabilities};
use cersei_tools::{Tool, ToolContext, ToolResult};
use cersei_types::{Message, StopReason, StreamEvent};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::work::{ARGUMENTS, Job, NOOP, NOOP_DESCRIPTION, PROMPT, Reply, Running, System, earlier, schema};

pub(crate) struct Cersei;

impl System for Cersei {
    fn name(&self) -> &'static str {
        "Cersei 0.2.6"
    }

    fn prepare(&self, job: Job) -> Running {
        let message = |index| {
            let text = earlier(index);
            if index.is_multiple_of(2) { Message::user(text) } else { Message::assistant(text) }
        };
        let agent = Agent::builder()
            .provider(Model { job, requests: AtomicU32::new(0) })
            .model("m")
            .tool(Noop)
            .max_turns(u32::MAX)
            .auto_compact(false)
            .working_dir("/")
            .with_messages((0..job.messages()).map(message).collect())
            .build()
            .expect("the agent can be built");
        let agent = Arc::new(agent);
        Box::pin(async move {
            for _ in 0..job.runs() {
                let output = agent.run_stream(PROMPT).collect().await.expect("the run completes");
                assert_eq!((output.turns, output.text().len()), (job.turns(), job.text_len()));
            }
            Box::new(agent) as Box<dyn Any>
        })
    }
}

struct Model {
    job: Job,
    requests: AtomicU32,
}

#[async_trait]
impl Provider for Model {
    fn name(&self) -> &str {
        "p"
    }

    fn context_window(&self, _model: &str) -> u64 {
        1_000_000
    }

    fn capabilities(&self, _model: &str) -> ProviderCapabilities {
        ProviderCapabilities::default()
    }

    async fn complete(&self, _request: CompletionRequest) -> cersei_types::Result<CompletionStream> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let events = events(self.job.reply(number), number);
        let (sender, receiver) = mpsc::channel(events.len());
        for event in events {
            sender.try_send(event).expect("the channel has room");
        }
        Ok(CompletionStream::new(receiver))
    }
}

fn events(reply: Reply, number: u32) -> Vec<StreamEvent> {
    let mut events = vec![StreamEvent::MessageStart { id: format!("msg_{number}"), model: "m".into() }];
    let stop_reason = match reply {
        Reply::Call => {
            events.push(StreamEvent::ContentBlockStart {
                index: 0,
                block_type: "tool_use".into(),
                id: Some(format!("call_{number}")),
                name: Some(NOOP.into()),
            });
            events.push(StreamEvent::InputJsonDelta { index: 0, partial_json: ARGUMENTS.into() });
            StopReason::ToolUse
        }
        Reply::Text(pieces) => {
            let block_type = "text".into();
            events.push(StreamEvent::ContentBlockStart { index: 0, block_type, id: None, name: None });
            events.extend(
                pieces.into_iter().map(|piece| StreamEvent::TextDelta { index: 0, text: piece.into() }),
            );
            StopReason::EndTurn
        }
    };
    events.push(StreamEvent::ContentBlockStop { index: 0 });
    events.push(StreamEvent::MessageDelta { stop_reason: Some(stop_reason), usage: None });
    events.push(StreamEvent::MessageStop);
    events
}

struct Noop;

#[async_trait]
impl Tool for Noop {
    fn name(&self) -> &str {
        NOOP
    }

    fn description(&self) -> &str {
        NOOP_DESCRIPTION
    }

    fn input_schema(&self) -> Value {
        schema()
    }

    async fn execute(&self, _input: Value, _context: &ToolContext) -> ToolResult {
        ToolResult::success("ok")
    }
}
