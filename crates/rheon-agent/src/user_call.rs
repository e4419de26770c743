//! `UserCall`: a tool call that the user typed. It takes the place of the model's answer in a run of its own.

use std::sync::{Arc, Mutex, PoisonError};

use futures::stream;
use rheon_types::{
    Chunk, ChunkStream, Content, DraftOutcome, Gate, MicroUsd, ModelInfo, Provider, ProviderError,
    ProviderErrorKind, Request, StopReason, ToolCall, ToolName, TurnTrigger,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::config::RunConfig;
use crate::context::Compaction;

/// A tool call that the user typed.
pub struct UserCall {
    /// The tool.
    pub tool_name: ToolName,
    /// Its arguments.
    pub arguments: Arc<Value>,
    /// Decides whether it may run. The user has asked for it, so this gate has no reason to ask them again.
    pub gate: Arc<dyn Gate>,
}

impl UserCall {
    /// The configuration of its run: nothing in it calls the model, so nothing is reserved, compacted or checked.
    pub(crate) fn configure(self, config: &RunConfig) -> RunConfig {
        let mut config = config.clone();
        let Self { tool_name, arguments, gate } = self;
        let call =
            ToolCall { id: "typed".into(), name: tool_name, arguments, malformed: None, key_order: None };
        let model = Arc::clone(&config.provider);
        config.provider = Arc::new(TypedCall { call: Mutex::new(Some(call)), model });
        config.gate = gate;
        config.budget = None;
        config.settings.first_turn_trigger = TurnTrigger::Command;
        config.settings.window.compaction = Compaction::Manual;
        config.settings.checks.nudges_max = 0;
        config.settings.request.output_schema = None;
        config
    }
}

/// Answers with the user's call.
struct TypedCall {
    call: Mutex<Option<ToolCall>>,
    /// The model of the session, which names and measures the conversation.
    model: Arc<dyn Provider>,
}

impl Provider for TypedCall {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn stream(&self, _request: Request, _cancel: CancellationToken) -> ChunkStream {
        let call = self.call.lock().unwrap_or_else(PoisonError::into_inner).take();
        let chunks = match call {
            Some(call) => vec![
                Ok(Chunk::Block { block: Box::new(Content::ToolCall(call)) }),
                Ok(Chunk::Done { stop_reason: StopReason::ToolUse }),
            ],
            None => vec![Err(ProviderError::new(
                ProviderErrorKind::InvalidRequest,
                "a typed command is not answered by a model",
            ))],
        };
        Box::pin(stream::iter(chunks))
    }

    fn describe(&self, model: &str) -> Option<Arc<ModelInfo>> {
        self.model.describe(model)
    }

    fn cost(&self, _asked: &str, _answered: &DraftOutcome) -> Option<MicroUsd> {
        Some(MicroUsd::default())
    }
}
