//! `StopReason`: why the model ended one message.

use serde::{Deserialize, Serialize};

/// Why the model ended one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// The model was done.
    Stop,
    /// The answer reached its token limit.
    Length,
    /// The model called tools.
    ToolUse,
    /// The provider or the stream failed.
    Error,
    /// The run was canceled during the answer.
    Aborted,
}
