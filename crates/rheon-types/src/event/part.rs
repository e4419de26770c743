//! The smaller words that events are made of.

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
    /// Asks as the rules say.
    #[default]
    Default,
    /// Edits in the workspace need no question.
    AcceptEdits,
    /// Changes are queued, not made.
    Plan,
    /// What would ask is refused.
    DontAsk,
    /// Nothing asks; the sandbox stays.
    BypassPermissions,
}

/// A change that plan mode keeps waiting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct QueuedChange {
    /// The call that wanted it.
    pub call_id: ToolCallId,
    /// The tool that would make it.
    pub tool_name: ToolName,
    /// The arguments it would run with.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::shared_json()"))]
    pub arguments: Arc<Value>,
    /// The change in a line.
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

/// What made the window shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum CompactionTrigger {
    /// The window was nearly full.
    Auto,
    /// The user asked.
    Manual,
    /// The service refused a prompt that was too long.
    Overflow,
}

/// One thing that is counted against a cap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct Meter {
    /// Gone for good.
    pub spent: u64,
    /// Set aside for calls in flight.
    pub reserved: u64,
    /// The most there may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<u64>,
}

/// What is set aside of a budget for one model call: the most it can take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct BudgetAmount {
    /// Tokens of prompt and answer.
    pub tokens: u64,
    /// Money, where prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<MicroUsd>,
}

/// A budget and what is left of it.
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

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum TaskStatus {
    /// Not begun.
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
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub status: TaskStatus,
}
