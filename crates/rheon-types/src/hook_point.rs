//! `HookPoint`: the points of a run at which hooks are called.

use serde::{Deserialize, Serialize};

/// A point of a run; see the diagram in the architecture document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum HookPoint {
    /// Before `agent.start`.
    #[doc(alias = "BeforeLoop")]
    #[serde(alias = "beforeLoop")]
    BeforeRun,
    /// After `agent.end`.
    #[doc(alias = "AfterLoop")]
    #[serde(alias = "afterLoop")]
    AfterRun,
    /// Before `turn.start`.
    BeforeTurn,
    /// After `turn.end`.
    AfterTurn,
    /// Before the user is asked about a tool call.
    PermitTool,
    /// When a tool call needs approval.
    AnswerApproval,
    /// Before `tool.start`.
    BeforeTool,
    /// After `tool.end`.
    AfterTool,
    /// After `tool.blocked`.
    ToolBlocked,
    /// Before `tool.update`.
    BeforeToolUpdate,
    /// After `tool.update`.
    AfterToolUpdate,
    /// When the model is done.
    BeforeStop,
    /// Before `compaction.start`.
    BeforeCompaction,
    /// After `compaction.end`.
    AfterCompaction,
    /// When a run fails.
    OnError,
}
