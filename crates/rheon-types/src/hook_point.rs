//! `HookPoint`: where in a run a hook is asked or told.

use serde::{Deserialize, Serialize};

/// A place in the order of a run; see the drawing in the architecture document.
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
    /// Before anybody is asked about a tool call.
    PermitTool,
    /// When somebody has to decide about a tool call.
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
    /// When the model has nothing more to do.
    BeforeStop,
    /// When a run fails.
    OnError,
}
