//! Errors of building and running an agent.

use std::sync::Arc;

use rheon_types::{AgentOutput, ApprovalId, RunFailure, SessionId};

/// A run that could not start or that failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AgentError {
    /// A run is in progress.
    #[error(
        "the agent is running; wait for the run to end, or call steer() or follow_up() to send it a message"
    )]
    Busy,
    /// The prompt is empty.
    #[error("the prompt is empty")]
    EmptyPrompt,
    /// The prompt has an answer or a tool result in it, which no run can be prompted with.
    #[error(
        "only user messages can be sent to a run; pass earlier answers and tool results as the agent's history"
    )]
    NotAUserMessage,
    /// There is no tokio runtime.
    #[error("no tokio runtime on this thread; call the agent from within one")]
    NoRuntime,
    /// The run failed. `output` contains what it did until then.
    #[error("{failure}")]
    Failed {
        /// Why.
        #[source]
        failure: RunFailure,
        /// The output of the run.
        output: Arc<AgentOutput>,
    },
    /// The run's task was aborted before it finished, because its runtime shut down.
    #[error("the run was aborted: {0}")]
    Lost(String),
    /// Saved messages could not be read.
    #[error("cannot read the saved messages: {0}")]
    UnreadableMessages(String),
}

/// The maximum capacity of a broadcast channel.
pub(crate) const BROADCAST_EVENTS_MAX: usize = 65_536;

/// An agent that cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// No model service was given.
    #[error("an agent needs a provider: call .provider(...) on the builder")]
    NoProvider,
    /// The batch size is 0.
    #[error("a batch of tools needs a size of at least 1")]
    EmptyBatch,
    /// The broadcast capacity is out of range.
    #[error("enable_broadcast takes from 1 to {BROADCAST_EVENTS_MAX} events, not {0}")]
    BroadcastCapacity(usize),
    /// Two tool sources have the same name; events and instructions could not distinguish them.
    #[error("two tool sources are named {0:?}; give each source a name of its own")]
    DuplicateToolSource(String),
    /// The tools do not fit together.
    #[error(transparent)]
    Tools(#[from] ToolboxError),
}

/// Invalid tools.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolboxError {
    /// Two tools with the same name.
    #[error("two tools are named {0:?}")]
    Duplicate(String),
    /// A tool without a name.
    #[error("a tool has an empty name")]
    Unnamed,
    /// An invalid schema.
    #[error("the schema of tool {name:?} is not a JSON Schema: {problem}")]
    InvalidSchema {
        /// Which tool.
        name: String,
        /// The problem.
        problem: String,
    },
}

/// Why a message cannot reach a child.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChildError {
    /// No child of that session is running.
    #[error("no child with session {session_id} is running")]
    Unknown {
        /// Which one.
        session_id: SessionId,
    },
    /// It reads nothing, and enough waits for it.
    #[error("too many messages wait for the child with session {session_id}; wait until it has read them")]
    Full {
        /// Which one.
        session_id: SessionId,
    },
}

/// An answer to a question that is not open: answered already, withdrawn, or never asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("approval request {request_id} is not open: it was already answered, withdrawn or never made")]
pub struct PermissionError {
    /// The id that was answered.
    pub request_id: ApprovalId,
}
