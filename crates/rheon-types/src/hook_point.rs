//! `HookPoint`: where in a run a hook is asked or told.

use serde::{Deserialize, Serialize};

/// A place in the order of a run; see the drawing in the architecture document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum HookPoint {
    /// Before `agent.start`.
    BeforeLoop,
    /// After `agent.end`.
    AfterLoop,
    /// Before `turn.start`.
    BeforeTurn,
    /// After `turn.end`.
    AfterTurn,
    /// Before `tool.start`.
    BeforeTool,
    /// After `tool.end`.
    AfterTool,
    /// Before `tool.update`.
    BeforeToolUpdate,
    /// After `tool.update`.
    AfterToolUpdate,
    /// When a run fails.
    OnError,
}
