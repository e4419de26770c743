//! `LoopRecord`: what is kept of one loop.

use std::sync::Arc;

use rheon_types::{
    AgentId, AgentMessage, ContinuationKind, RunEnd, RunId, SessionId, Timestamp, ToolCallId, ToolName, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::loop_event::LoopEvent;

/// What is kept of one loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoopRecord {
    /// Its id.
    pub loop_id: RunId,
    /// The session it is kept in.
    pub session_id: SessionId,
    /// Who ran. Empty until the loop says so.
    pub agent_id: AgentId,
    /// The loop it follows from; may be of another session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_loop_id: Option<RunId>,
    /// How it follows; absent for a loop of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continuation_kind: Option<ContinuationKind>,
    /// When it began, or was announced.
    pub started_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// How far it is.
    pub status: LoopStatus,
    /// Why it was rejected; set for [`LoopStatus::Rejected`] alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<String>,
    /// Why it ended, in the loop's own words; absent where it never said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<RunEnd>,
    /// What it ran with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<LoopConfigSnapshot>,
    /// The messages it added. Those of its end are authoritative; until then, those that were complete.
    pub messages: Vec<Arc<AgentMessage>>,
    /// Its tokens.
    pub usage: Usage,
    /// What the app gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Arc<Value>>,
    /// What happened in it.
    pub events: Vec<LoopEvent>,
    /// How many events came after the most that are kept.
    #[serde(default)]
    pub events_left_out: u64,
    /// The loops of this session that follow from it.
    #[serde(default)]
    pub children_loop_ids: Vec<RunId>,
    /// The loops of sub-agents that its calls started.
    #[serde(default)]
    pub child_loop_refs: Vec<ChildLoopRef>,
    /// The group of parallel loops it is one of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel_group: Option<ParallelGroupRecord>,
}

/// How far a loop is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LoopStatus {
    /// Announced, and not begun.
    Pending,
    /// Begun, and not ended.
    Running,
    /// Ended by itself: the model was done, its answer was cut, or a limit was reached; `end` says which.
    Completed,
    /// An input filter or a hook did not let it run.
    Rejected,
    /// Cancelled, or never seen to end.
    Aborted,
    /// Something failed that the model cannot mend; `end` says what.
    Failed,
}

impl LoopStatus {
    /// Whether more is to come.
    pub fn is_open(self) -> bool {
        match self {
            Self::Pending | Self::Running => true,
            Self::Completed | Self::Rejected | Self::Aborted | Self::Failed => false,
        }
    }
}

/// What a loop ran with: the model that `agent.start` names, the configuration segment of the loop's id, and whatever the
/// object `config` of its metadata says under these names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopConfigSnapshot {
    /// The model.
    pub model: String,
    /// The provider.
    pub provider: Option<String>,
    /// The configuration.
    pub config_id: Option<String>,
    /// What the configuration is called.
    pub name: Option<String>,
    /// The wire.
    pub api: Option<String>,
    /// Where the service is.
    pub base_url: Option<String>,
    /// Whether the model can think.
    pub reasoning: Option<bool>,
    /// How many tokens prompt and answer may have together.
    pub context_window: Option<u64>,
    /// How many tokens an answer may have.
    pub max_tokens: Option<u64>,
    /// How much the model should think.
    pub thinking_level: Option<String>,
    /// How freely it should choose its words.
    pub temperature: Option<f64>,
}

impl LoopConfigSnapshot {
    /// The snapshot of a loop from what its `agent.start` says. What has another type than expected is left out.
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

/// On the loop of a call: the loop of the sub-agent that the call started. Kept for a sub-agent in the same session, too,
/// since nothing else names the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildLoopRef {
    /// The call; known once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<ToolCallId>,
    /// The tool that was called; known once the call has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<ToolName>,
    /// The loop of the sub-agent.
    pub child_loop_id: RunId,
    /// Its session; absent while no event has named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_session_id: Option<SessionId>,
}

/// A group of loops that ran one prompt, of which one was chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParallelGroupRecord {
    /// All of them, in the order of their configurations.
    pub all_loop_ids: Vec<RunId>,
    /// The chosen one; absent until one is chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_loop_id: Option<RunId>,
    /// The place of its configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_config_index: Option<u32>,
    /// The tokens of choosing.
    #[serde(default)]
    pub evaluation_usage: Usage,
    /// Whether the loop that this record stands on is the chosen one.
    pub is_selected: bool,
}

impl ParallelGroupRecord {
    /// A group of which none is chosen yet.
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
