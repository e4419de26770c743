//! Rheon, through `Agent::run_stream`.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::stream;
use rheon::Agent;
use rheon::types::{
    AgentMessage, AllowAll, AssistantMessage, BoxFuture, Chunk, ChunkStream, Effect, History, Message,
    Provider, Request, StopReason, Timestamp, Tool, ToolCallId, ToolContext, ToolError, ToolResult, Usage,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::work::{ARGUMENTS, Job, NOOP, NOOP_DESCRIPTION, PROMPT, Reply, Running, System, earlier, schema};

pub(crate) struct Rheon;

impl System for Rheon {
    fn name(&self) -> &'static str {
        "Rheon"
    }

    fn prepare(&self, job: Job) -> Running {
        let agent = Agent::builder()
            .provider(Model { job, requests: AtomicU32::new(0) })
            .model("m")
            .tool(Noop)
            .permission_policy(AllowAll)
            .max_turns(u32::MAX)
            .history(history(job.messages()))
            .build()
            .expect("the agent can be built");
        Box::pin(async move {
            for _ in 0..job.runs() {
                let mut events = agent.run_stream(PROMPT).expect("the run begins");
                while events.next().await.is_some() {}
                let output = events.finish().await.expect("the run completes");
                assert_eq!((output.turns, output.text.len()), (job.turns(), job.text_len()));
            }
            Box::new(agent) as Box<dyn Any>
        })
    }
}

fn history(messages: u32) -> History {
    let message = |index| -> Arc<AgentMessage> {
        let (text, timestamp) = (earlier(index), Timestamp::default());
        let message = if index.is_multiple_of(2) { Message::user(text, timestamp) } else { answer(text) };
        Arc::new(message.into())
    };
    (0..messages).map(message).collect()
}

fn answer(text: String) -> Message {
    Message::Assistant(AssistantMessage {
        content: vec![text.as_str().into()],
        stop_reason: StopReason::Stop,
        model: "m".into(),
        provider: "p".into(),
        usage: Usage::default(),
        timestamp: Timestamp::default(),
        error_message: None,
    })
}

struct Model {
    job: Job,
    requests: AtomicU32,
}

impl Provider for Model {
    fn id(&self) -> &str {
        "p"
    }

    fn stream(&self, _request: Request, _cancel: CancellationToken) -> ChunkStream {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let mut chunks = Vec::new();
        let stop_reason = match self.job.reply(number) {
            Reply::Call => {
                let id = ToolCallId::from(format!("call_{number}"));
                chunks.push(Chunk::ToolCallStart { index: 0, id, name: NOOP.into() });
                chunks.push(Chunk::ToolCallDelta { index: 0, delta: ARGUMENTS.into() });
                chunks.push(Chunk::ToolCallEnd { index: 0 });
                StopReason::ToolUse
            }
            Reply::Text(pieces) => {
                chunks.extend(pieces.into_iter().map(|piece| Chunk::Text { delta: piece.into() }));
                StopReason::Stop
            }
        };
        chunks.push(Chunk::Done { stop_reason });
        Box::pin(stream::iter(chunks.into_iter().map(Ok)))
    }
}

struct Noop;

impl Tool for Noop {
    fn name(&self) -> &str {
        NOOP
    }

    fn description(&self) -> &str {
        NOOP_DESCRIPTION
    }

    fn parameters_schema(&self) -> Value {
        schema()
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    fn execute<'a>(
        &'a self,
        _arguments: Arc<Value>,
        _context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async { Ok(ToolResult::text("ok")) })
    }
}
