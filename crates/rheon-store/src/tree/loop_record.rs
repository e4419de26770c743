//! `LoopRecord`: the record of one loop (one run).

use std::sync::Arc;

use rheon_types::{
    AgentId, AgentMessage, ContinuationKind, RunEnd, RunId, SessionId, Timestamp, ToolCallId, ToolName, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::loop_event::LoopEvent;

/// The record of one loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoopRecord {
    pub loop_id: RunId,
    pub session_id: SessionId,
    /// Empty until the loop starts.
    pub agent_id: AgentId,
    /// The loop it continues, perhaps of another session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_loop_id: Option<RunId>,
    /// How it continues its parent; `None` for an independent loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continuation_kind: Option<ContinuationKind>,
    /// When it started or was announced.
    pub started_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    pub status: LoopStatus,
    /// Set only for [`LoopStatus::Rejected`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<String>,
    /// Why it ended; `None` if its end was never seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<RunEnd>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<LoopConfigSnapshot>,
    /// The messages it added. Until it ends, those that are complete.
    pub messages: Vec<Arc<AgentMessage>>,
    pub usage: Usage,
    /// The app's metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Arc<Value>>,
    pub events: Vec<LoopEvent>,
    /// How many events exceeded the limit.
    #[serde(default)]
    pub events_left_out: u64,
    /// The loops of this session that continue it.
    #[serde(default)]
    pub children_loop_ids: Vec<RunId>,
    /// The sub-agent loops that its calls started.
    #[serde(default)]
    pub child_loop_refs: Vec<ChildLoopRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel_group: Option<ParallelGroupRecord>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LoopStatus {
    /// Announced, but not started.
    Pending,
    Running,
    /// It ended by itself: the model finished, its answer was cut off, or a limit was reached. See `end`.
    Completed,
    /// An input filter or a hook stopped it.
    Rejected,
    /// Canceled, or never seen to end.
    Aborted,
    /// It failed with an error that the model cannot fix. See `end`.
    Failed,
}

impl LoopStatus {
    pub fn is_open(self) -> bool {
        match self {
            Self::Pending | Self::Running => true,
            Self::Completed | Self::Rejected | Self::Aborted | Self::Failed => false,
        }
    }
}

/// The configuration of a loop: the model in `agent.start`, the configuration part of the loop's id, and the fields
/// of these names in the `config` object of its metadata.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopConfigSnapshot {
    pub model: String,
    pub provider: Option<String>,
    pub config_id: Option<String>,
    pub name: Option<String>,
    /// The wire format.
    pub api: Option<String>,
    pub base_url: Option<String>,
    /// Whether the model supports thinking.
    pub reasoning: Option<bool>,
    pub context_window: Option<u64>,
    pub max_tokens: Option<u64>,
    pub thinking_level: Option<String>,
    pub temperature: Option<f64>,
}

impl LoopConfigSnapshot {
    /// Builds the snapshot from `agent.start`. Values of an unexpected type are ignored.
    pub(super) fn new(model: &str, config_id: Option<&str>, metadata: Option<&Value>) -> Self {
        let config = metadata.and_then(|metadata| metadata.get("config"));
        let field = |name: &str| config.and_then(|config| config.get(name));
        let text = |name: &str| field(name).and_then(Value::as_str).map(str::to_owned);
        Self {
            model: model.to_owned(),
            provider: text("provider"),
            config_id: text("config_id").or_else(|| config_id.map(str::to_owned)),
            name: text("name"),
            api: text("api"),
            base_url: text("base_url"),
            reasoning: field("reasoning").and_then(Value::as_bool),
            context_window: field("context_window").and_then(Value::as_u64),
            max_tokens: field("max_tokens").and_then(Value::as_u64),
            thinking_level: text("thinking_level"),
            temperature: field("temperature").and_then(Value::as_f64),
        }
    }
}

/// The sub-agent loop that a call started. Also stored if the sub-agent is in the same session, because nothing else
/// names the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildLoopRef {
    /// Known once the call has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<ToolCallId>,
    /// Known once the call has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<ToolName>,
    pub child_loop_id: RunId,
    /// `None` until an event names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_session_id: Option<SessionId>,
}

/// Loops that ran one prompt in parallel, of which one was selected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParallelGroupRecord {
    /// In the order of their configurations.
    pub all_loop_ids: Vec<RunId>,
    /// `None` until one is selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_loop_id: Option<RunId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_config_index: Option<u32>,
    /// The tokens used to select.
    #[serde(default)]
    pub evaluation_usage: Usage,
    /// Whether the loop of this record is the selected one.
    pub is_selected: bool,
}

impl ParallelGroupRecord {
    /// A group without a selection.
    pub(super) fn open(all_loop_ids: Vec<RunId>) -> Self {
        Self {
            all_loop_ids,
            selected_loop_id: None,
            selected_config_index: None,
            evaluation_usage: Usage::default(),
            is_selected: false,
        }
    }
}
