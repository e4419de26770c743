//! Events: the facts of a run, in order. Everything else is a view of them.

mod approval;
mod order;
mod part;
mod settings;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use approval::{
    ApprovalRequest, Choice, Danger, PermissionDecision, PermissionResponse, Responder, Scope, Selection,
    Subject, UserQuestion,
};
pub use order::{OrderChecker, OrderViolation};
pub use part::{
    ChildRef, CompactionTrigger, Ledger, Meter, PermissionMode, QueuedChange, Reserved, TaskItem, TaskStatus,
};
pub use settings::{RunSettings, RunWindow};

use crate::history::History;
use crate::hook_point::HookPoint;
use crate::id::{AgentId, ApprovalId, LoopId, SessionId, ToolCallId, ToolName};
use crate::message::AgentMessage;
use crate::outcome::{AgentOutput, ContinuationKind, TurnTrigger};
use crate::request::DeltaText;
use crate::stop::StopReason;
use crate::time::Timestamp;
use crate::tool::{Effect, ToolResult};
use crate::usage::{MicroUsd, Usage};
use crate::window::WindowCut;

/// One entry of a session's log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct Event {
    /// Counts the durable events of a session from 1, without gaps. A live event bears the number of the durable event
    /// it follows.
    pub seq: u64,
    /// When it happened.
    pub at: Timestamp,
    /// In which session.
    pub session_id: SessionId,
    /// In which run.
    pub loop_id: LoopId,
    /// What happened.
    pub kind: AgentEvent,
}

/// What happened. JSON: tagged by `type` with the dotted name. The order of events is drawn in the architecture
/// document and enforced by [`OrderChecker`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(tag = "type")]
#[allow(
    missing_docs,
    reason = "the fields say what the variant's line says; repeating it would only be noise"
)]
pub enum AgentEvent {
    /// A run begins.
    #[serde(rename = "agent.start")]
    AgentStart {
        agent_id: AgentId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_loop_id: Option<LoopId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        continuation: Option<ContinuationKind>,
        model: Arc<str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::metadata()"))]
        metadata: Option<Arc<Value>>,
        /// What the run obeyed; absent in logs of before this was kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settings: Option<Arc<RunSettings>>,
        /// The conversation that the run began with, where the log before it says something else: one that came from
        /// outside, was restored or forgotten.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::conversation()"))]
        history: Option<History>,
        /// What lay over that conversation when the run began.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        cuts: Vec<WindowCut>,
    },
    /// A run is over; always the last event of its run.
    #[serde(rename = "agent.end")]
    AgentEnd { output: Arc<AgentOutput> },

    /// A turn begins.
    #[serde(rename = "turn.start")]
    TurnStart { turn_index: u32, triggered_by: TurnTrigger },
    /// A turn is over. `message` is the model's answer, absent if the turn ended before the model was called.
    #[serde(rename = "turn.end")]
    TurnEnd {
        turn_index: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Arc<AgentMessage>>,
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        tool_results: Vec<Arc<AgentMessage>>,
        usage: Usage,
    },

    /// The model is called; `tokens_estimate` is how long the prompt is thought to be.
    #[serde(rename = "llm.start")]
    LlmStart {
        model: Arc<str>,
        tokens_estimate: u64,
        /// What was set aside of the budget for it. Without an end it counts as spent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reserved: Option<Reserved>,
    },
    /// The model call is over.
    #[serde(rename = "llm.end")]
    LlmEnd {
        usage: Usage,
        stop_reason: StopReason,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<MicroUsd>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_token_ms: Option<u64>,
        duration_ms: u64,
    },

    /// A message begins. An assistant's is empty here; its text follows as deltas.
    #[serde(rename = "message.start")]
    MessageStart { message: Arc<AgentMessage> },
    /// A message is complete.
    #[serde(rename = "message.end")]
    MessageEnd { message: Arc<AgentMessage> },

    /// Live: the model wrote text.
    #[serde(rename = "text.delta")]
    TextDelta { delta: DeltaText },
    /// Live: the model thought.
    #[serde(rename = "thinking.delta")]
    ThinkingDelta { delta: DeltaText },
    /// Live: the model wrote arguments of a tool call. The first delta of a call may be empty.
    #[serde(rename = "tool_call.delta")]
    ToolCallDelta { call_id: ToolCallId, name: ToolName, delta: DeltaText },

    /// A tool is about to run. This is the intent that a store keeps before the effect.
    #[serde(rename = "tool.start")]
    ToolStart {
        call_id: ToolCallId,
        name: ToolName,
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::shared_json()"))]
        args: Arc<Value>,
        /// What the tool does to the world: whether it may be repeated if its end is never known.
        #[serde(default)]
        effect: Effect,
    },
    /// Live: a partial result.
    #[serde(rename = "tool.update")]
    ToolUpdate { call_id: ToolCallId, name: ToolName, partial: Arc<ToolResult> },
    /// Live: a line of status.
    #[serde(rename = "tool.progress")]
    ToolProgress { call_id: ToolCallId, name: ToolName, text: String },
    /// A tool is done.
    #[serde(rename = "tool.end")]
    ToolEnd {
        call_id: ToolCallId,
        name: ToolName,
        result: Arc<ToolResult>,
        is_error: bool,
        duration_ms: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        child_loop_id: Option<LoopId>,
    },
    /// A tool call will not run.
    #[serde(rename = "tool.blocked")]
    ToolBlocked { call_id: ToolCallId, name: ToolName, reason: String },

    /// Somebody has to decide whether a tool may run.
    #[serde(rename = "approval.required")]
    ApprovalRequired { request: Arc<ApprovalRequest> },
    /// It is decided.
    #[serde(rename = "approval.resolved")]
    ApprovalResolved {
        request_id: ApprovalId,
        decision: PermissionDecision,
        scope: Scope,
        by: Responder,
        /// The arguments that the answer put in place of those that were asked about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::metadata()"))]
        arguments: Option<Arc<Value>>,
    },

    /// Plan mode: a change waits instead of running.
    #[serde(rename = "plan.queued")]
    PlanQueued { change: Arc<QueuedChange> },
    /// A waiting change was approved or dropped.
    #[serde(rename = "plan.resolved")]
    PlanResolved { call_id: ToolCallId, decision: PermissionDecision },
    /// The permission mode is another one now.
    #[serde(rename = "mode.changed")]
    ModeChanged { mode: PermissionMode },

    /// An input filter refused a message.
    #[serde(rename = "input.rejected")]
    InputRejected { reason: String },

    /// A sub-agent begins.
    #[serde(rename = "subagent.start")]
    SubagentStart { child: Arc<ChildRef>, task: String },
    /// A sub-agent is done.
    #[serde(rename = "subagent.end")]
    SubagentEnd { child: Arc<ChildRef>, summary: String, usage: Usage, is_error: bool },

    /// Several runs of one prompt begin.
    #[serde(rename = "parallel.start")]
    ParallelStart {
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        loop_ids: Vec<LoopId>,
    },
    /// One of them was chosen.
    #[serde(rename = "parallel.end")]
    ParallelEnd { selected_loop_id: LoopId, selected_index: u32, evaluation_usage: Usage },

    /// How full the model's window is.
    #[serde(rename = "context.usage")]
    ContextUsage { tokens_used: u64, tokens_window: u64 },
    /// The window is filling up.
    #[serde(rename = "compaction.warning")]
    CompactionWarning { tokens_used: u64, tokens_window: u64 },
    /// The window is being made shorter.
    #[serde(rename = "compaction.start")]
    CompactionStart { trigger: CompactionTrigger, tokens_before: u64 },
    /// The window is shorter.
    #[serde(rename = "compaction.end")]
    CompactionEnd {
        messages_dropped: u32,
        tokens_before: u64,
        tokens_after: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
        /// All that lies over the conversation from now on.
        #[serde(default)]
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        cuts: Vec<WindowCut>,
        /// What a model used to write the summary.
        #[serde(default)]
        usage: Usage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<MicroUsd>,
    },

    /// The budget is nearly spent.
    #[serde(rename = "budget.warning")]
    BudgetWarning { ledger: Arc<Ledger> },
    /// The budget is spent.
    #[serde(rename = "budget.exceeded")]
    BudgetExceeded { ledger: Arc<Ledger> },

    /// A model call failed and is tried again after a pause.
    #[serde(rename = "resilience.retry")]
    Retry { attempt: u32, attempts_max: u32, delay_ms: u64, cause: String },
    /// A model call succeeded after failures.
    #[serde(rename = "resilience.recovered")]
    Recovered { attempts: u32 },

    /// A hook ran.
    #[serde(rename = "hook.run")]
    HookRun {
        hook: String,
        point: HookPoint,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        veto: Option<String>,
        duration_ms: u64,
        /// The call it was about, where it was about one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call_id: Option<ToolCallId>,
        /// The arguments it put in place of the model's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::metadata()"))]
        arguments: Option<Arc<Value>>,
    },
    /// The task list is another one now.
    #[serde(rename = "task.update")]
    TaskUpdate {
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        items: Vec<TaskItem>,
    },
    /// The state of the workspace was kept.
    #[serde(rename = "checkpoint")]
    Checkpoint { id: String, label: String },
    /// Something went wrong that is worth telling.
    #[serde(rename = "error")]
    Error { message: String },
}

impl AgentEvent {
    /// Whether the event is kept. A live event is only shown: a later durable event carries all it says.
    pub fn is_durable(&self) -> bool {
        !matches!(
            self,
            Self::TextDelta { .. }
                | Self::ThinkingDelta { .. }
                | Self::ToolCallDelta { .. }
                | Self::ToolUpdate { .. }
                | Self::ToolProgress { .. }
        )
    }

    /// The dotted name, as in the JSON `type`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::AgentStart { .. } => "agent.start",
            Self::AgentEnd { .. } => "agent.end",
            Self::TurnStart { .. } => "turn.start",
            Self::TurnEnd { .. } => "turn.end",
            Self::LlmStart { .. } => "llm.start",
            Self::LlmEnd { .. } => "llm.end",
            Self::MessageStart { .. } => "message.start",
            Self::MessageEnd { .. } => "message.end",
            Self::TextDelta { .. } => "text.delta",
            Self::ThinkingDelta { .. } => "thinking.delta",
            Self::ToolCallDelta { .. } => "tool_call.delta",
            Self::ToolStart { .. } => "tool.start",
            Self::ToolUpdate { .. } => "tool.update",
            Self::ToolProgress { .. } => "tool.progress",
            Self::ToolEnd { .. } => "tool.end",
            Self::ToolBlocked { .. } => "tool.blocked",
            Self::ApprovalRequired { .. } => "approval.required",
            Self::ApprovalResolved { .. } => "approval.resolved",
            Self::PlanQueued { .. } => "plan.queued",
            Self::PlanResolved { .. } => "plan.resolved",
            Self::ModeChanged { .. } => "mode.changed",
            Self::InputRejected { .. } => "input.rejected",
            Self::SubagentStart { .. } => "subagent.start",
            Self::SubagentEnd { .. } => "subagent.end",
            Self::ParallelStart { .. } => "parallel.start",
            Self::ParallelEnd { .. } => "parallel.end",
            Self::ContextUsage { .. } => "context.usage",
            Self::CompactionWarning { .. } => "compaction.warning",
            Self::CompactionStart { .. } => "compaction.start",
            Self::CompactionEnd { .. } => "compaction.end",
            Self::BudgetWarning { .. } => "budget.warning",
            Self::BudgetExceeded { .. } => "budget.exceeded",
            Self::Retry { .. } => "resilience.retry",
            Self::Recovered { .. } => "resilience.recovered",
            Self::HookRun { .. } => "hook.run",
            Self::TaskUpdate { .. } => "task.update",
            Self::Checkpoint { .. } => "checkpoint",
            Self::Error { .. } => "error",
        }
    }
}

#[cfg(test)]
mod order_tests;
