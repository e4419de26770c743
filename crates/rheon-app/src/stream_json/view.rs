//! `RunView`: the state of one run that later lines need.

use std::collections::HashMap;
use std::sync::Arc;

use rheon_types::event::CompactionTrigger;
use rheon_types::{AssistantMessage, Content, Timestamp, ToolCall, ToolCallId, ToolName, ToolResult};
use serde_json::Value;

use super::message::Ending;
use super::partial::Partial;

/// The tool that runs a sub-agent.
const AGENT_TOOL: &str = "agent";

/// The state of one run.
#[derive(Debug, Default)]
pub(super) struct RunView {
    /// The parent's call that started the run; `None` for the session's own runs.
    pub(super) parent: Option<ParentCall>,
    pub(super) model: String,
    pub(super) message_id: String,
    pub(super) partial: Option<Partial>,
    /// The calls of the last answer, with the arguments that count.
    pub(super) calls: HashMap<ToolCallId, ToolCall>,
    pub(super) endings: HashMap<ToolCallId, Ending>,
    /// The call that runs a sub-agent, the last one first.
    pub(super) running_agents: Vec<ToolCallId>,
    pub(super) compaction: Option<(CompactionTrigger, Timestamp)>,
}

/// The call that started a sub-agent.
#[derive(Debug, Clone, Default)]
pub(super) struct ParentCall {
    pub(super) tool_use_id: Option<String>,
    pub(super) agent_id: String,
    pub(super) task: String,
}

impl RunView {
    /// The calls of a new answer replace the earlier ones.
    pub(super) fn remember_calls(&mut self, answer: &AssistantMessage) {
        self.calls.clear();
        self.endings.clear();
        for content in &answer.content {
            if let Content::ToolCall(call) = content {
                self.calls.insert(call.id.clone(), call.clone());
            }
        }
    }

    /// The arguments of a call were changed.
    pub(super) fn change_call(&mut self, id: Option<&ToolCallId>, arguments: Option<&Arc<Value>>) {
        if let (Some(id), Some(arguments)) = (id, arguments)
            && let Some(call) = self.calls.get_mut(id)
        {
            call.arguments = Arc::clone(arguments);
        }
    }

    /// A call runs, with these arguments.
    pub(super) fn tool_begins(&mut self, id: &ToolCallId, name: &ToolName, arguments: &Arc<Value>) {
        self.change_call(Some(id), Some(arguments));
        if name.as_str() == AGENT_TOOL {
            self.running_agents.insert(0, id.clone());
        }
    }

    /// A call has run.
    pub(super) fn tool_ends(&mut self, id: &ToolCallId, result: &Arc<ToolResult>, duration_ms: u64) {
        self.running_agents.retain(|running| running != id);
        self.endings.insert(id.clone(), Ending { result: Arc::clone(result), duration_ms });
    }
}
