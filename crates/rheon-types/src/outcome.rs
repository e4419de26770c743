//! How a run starts and ends: continuation, trigger, end, output.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{ProviderError, StoreError};
use crate::hook_point::HookPoint;
use crate::id::ToolName;
use crate::message::AgentMessage;
use crate::stop::StopReason;
use crate::time::Timestamp;
use crate::usage::{MicroUsd, Usage};

/// Which limit ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum LimitKind {
    /// The number of turns.
    Turns,
    /// The tokens of all turns together.
    Tokens,
    /// The wall clock.
    Duration,
    /// The budget, which other runs may share.
    Budget,
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(tag = "reason", rename_all = "camelCase")]
pub enum RunEnd {
    /// The model was done and nothing was queued.
    Completed,
    /// The model's last answer was cut off by its token limit.
    Truncated,
    /// An execution limit was reached.
    Limit {
        /// Which one.
        limit: LimitKind,
        /// A message with the figures.
        message: String,
    },
    /// An input filter refused the prompt.
    Rejected {
        /// The filter's reason.
        rejection: String,
    },
    /// A hook refused to let the run or its next turn begin.
    Vetoed {
        /// The point at which it was vetoed.
        point: HookPoint,
        /// The hook's reason.
        message: String,
    },
    /// The model repeated itself without progress, and a hook stopped it.
    Stuck {
        /// What it repeated.
        message: String,
    },
    /// The run was canceled.
    Aborted,
    /// Something failed that the model cannot fix.
    Failed {
        /// The failure.
        failure: RunFailure,
    },
}

/// A failure that ends a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum RunFailure {
    /// The model call failed.
    #[error("the model call failed: {error}")]
    Provider {
        /// The provider's error.
        #[source]
        error: ProviderError,
    },
    /// The log could not be written.
    #[error("cannot write the session log: {error}")]
    Store {
        /// The store's error.
        #[source]
        error: StoreError,
    },
    /// A tool ended the run.
    #[error("the tool {name} stopped the run: {message}")]
    Tool {
        /// Which tool.
        name: ToolName,
        /// The tool's message.
        message: String,
    },
    /// The conversation does not fit into the context window and cannot be shortened.
    #[error("the context window is full: {message}")]
    Window {
        /// What was tried, and what to do next.
        message: String,
    },
    /// The answer does not match the output schema.
    #[error("the answer does not match the output schema: {message}")]
    Output {
        /// How it differs from the schema.
        message: String,
    },
    /// There is nothing for the model to answer.
    #[error("cannot continue: {message}")]
    NothingToContinue {
        /// Why there is nothing to answer.
        message: String,
    },
    /// Code inside the run panicked.
    #[error("the run panicked: {message}")]
    Panic {
        /// The panic message, if any.
        message: String,
    },
}

/// How a run relates to the one before it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum ContinuationKind {
    /// Continues the conversation.
    #[default]
    Default,
    /// Tries again from an equivalent context.
    Rerun {
        /// An RFC 3339 time in UTC.
        tag: String,
    },
    /// Explores another path from a branching point.
    Branch {
        /// An RFC 3339 time in UTC.
        tag: String,
    },
}

impl ContinuationKind {
    /// A rerun tagged with the time `at`.
    pub fn rerun(at: Timestamp) -> Self {
        Self::Rerun { tag: at.to_string() }
    }

    /// A branch tagged with the time `at`.
    pub fn branch(at: Timestamp) -> Self {
        Self::Branch { tag: at.to_string() }
    }
}

/// What triggered a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum TurnTrigger {
    /// A prompt: the first turn of a run.
    User,
    /// A parent agent: the first turn of a sub-agent.
    SubAgent,
    /// Tool results, steering, a follow-up, or a continued run.
    Continuation,
    /// A branch: the first turn of a run continued as one.
    Branch,
    /// A command that the user typed: its tool call stands in place of the model's answer, and the run ends with its result.
    Command,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct AgentOutput {
    /// All messages the run added to the conversation, prompts included.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub messages: Vec<Arc<AgentMessage>>,
    /// The text of the model's last message.
    pub text: String,
    /// Tokens of all turns.
    pub usage: Usage,
    /// Money for all turns; absent where a price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<MicroUsd>,
    /// The number of turns started.
    pub turns: u32,
    /// Why the run ended.
    pub end: RunEnd,
    /// The last answer as a JSON value, if an output schema was set and it matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::metadata()"))]
    pub structured: Option<Arc<Value>>,
    /// What the model left unfinished even though it was asked to complete it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<String>,
}

impl AgentOutput {
    /// The output of a run that did nothing.
    pub fn new(end: RunEnd) -> Self {
        Self {
            messages: Vec::new(),
            text: String::new(),
            usage: Usage::default(),
            cost: None,
            turns: 0,
            end,
            structured: None,
            unfinished: None,
        }
    }

    /// The last answer as a `T`, the type whose schema the run was given.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, OutputError> {
        let value =
            self.structured.as_deref().ok_or_else(|| OutputError::Missing { end: self.end.clone() })?;
        serde_path_to_error::deserialize(value).map_err(|error| {
            let path = error.path().to_string();
            OutputError::Mismatch { path, problem: error.into_inner().to_string() }
        })
    }

    /// Why the model ended its last message, if it spoke at all.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.messages
            .iter()
            .rev()
            .find_map(|message| message.as_assistant())
            .map(|message| message.stop_reason)
    }
}

/// The text of the last answer.
impl fmt::Display for AgentOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Why an answer cannot be read as a value.
#[derive(Debug, Clone, PartialEq)]
pub enum OutputError {
    /// The run left no value: none was asked for, or it ended before there was one.
    Missing {
        /// How it ended.
        end: RunEnd,
    },
    /// The value matches the schema but not the type.
    Mismatch {
        /// Where in the value.
        path: String,
        /// What is wrong.
        problem: String,
    },
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { end: RunEnd::Completed } => f.write_str(
                "the run was not asked for a typed answer; use run_as::<T>() or output_schema::<T>()",
            ),
            Self::Missing { end: RunEnd::Failed { failure: RunFailure::Output { message } } } => {
                write!(f, "the model did not answer in the form that was asked for: {message}")
            }
            Self::Missing { end } => write!(f, "the run ended before there was a typed answer: {end:?}"),
            Self::Mismatch { path, problem } => {
                write!(f, "the answer matches the schema but not the type, at {path}: {problem}")
            }
        }
    }
}

impl std::error::Error for OutputError {}
