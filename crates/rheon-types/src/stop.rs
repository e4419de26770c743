//! `StopReason`: why the model ended one message.

use serde::{Deserialize, Serialize};

/// Why the model ended one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// It was done.
    Stop,
    /// It reached the token limit of the answer.
    Length,
    /// It wants tools to run.
    ToolUse,
    /// The provider or the stream failed.
    Error,
    /// The run was cancelled while it spoke.
    Aborted,
}
