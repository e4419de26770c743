//! Smaller parts of events.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{AgentId, RunId, SessionId, ToolCallId, ToolName};
use crate::usage::MicroUsd;

/// How much a session may do without asking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// Ask according to the rules.
    #[default]
    Default,
    /// Allow edits in the workspace without asking.
    AcceptEdits,
    /// Allow edits in the workspace and commands that a full-strength sandbox holds; ask about whatever leaves it.
    Auto,
    /// Queue changes instead of making them.
    Plan,
    /// Deny everything that would need approval.
    DontAsk,
    /// Allow everything without asking; the sandbox stays on.
    BypassPermissions,
}

/// A change queued in plan mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct QueuedChange {
    /// The call that requested it.
    pub call_id: ToolCallId,
    /// The tool that would make it.
    pub tool_name: ToolName,
    /// The arguments it would run with.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::shared_json()"))]
    pub arguments: Arc<Value>,
    /// A one-line summary.
    pub summary: String,
}

/// A sub-agent's run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct ChildRef {
    /// The sub-agent.
    pub agent_id: AgentId,
    /// Its session.
    pub session_id: SessionId,
    /// Its run.
    #[serde(alias = "loop_id")]
    pub run_id: RunId,
}

/// What triggered a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum CompactionTrigger {
    /// The window was nearly full.
    Auto,
    /// The user requested it.
    Manual,
    /// The service rejected a prompt that was too long.
    Overflow,
}

/// Usage of one resource against its cap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct Meter {
    /// The amount spent.
    pub spent: u64,
    /// The amount reserved for calls in flight.
    pub reserved: u64,
    /// The maximum; `None` for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<u64>,
}

/// Tokens and cost, for example the maximum of one model call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct BudgetAmount {
    /// Tokens of prompt and answer.
    pub tokens: u64,
    /// The cost, if prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<MicroUsd>,
}

/// The state of a budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct Ledger {
    /// Tokens.
    pub tokens: Meter,
    /// Money, in millionths of a US dollar.
    pub micro_usd: Meter,
    /// Wall clock, in milliseconds.
    pub wall_ms: Meter,
}

/// The status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum TaskStatus {
    /// Not started.
    Pending,
    /// Being worked on.
    InProgress,
    /// Done.
    Completed,
}

/// One entry of the task list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct TaskItem {
    /// The task.
    pub text: String,
    /// Its status.
    pub status: TaskStatus,
}
