//! What can go wrong between a caller and an agent.

use std::sync::Arc;

use rheon_types::{AgentOutput, ApprovalId, RunFailure, SessionId};

/// A run that could not begin, or that failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AgentError {
    /// A run is under way.
    #[error("the agent is running; wait for the run to end, or use steer() or follow_up() to speak to it")]
    Busy,
    /// There is nothing to say.
    #[error("the prompt is empty")]
    EmptyPrompt,
    /// Runs need tokio.
    #[error("there is no tokio runtime on this thread; call the agent from within one")]
    NoRuntime,
    /// The run failed; what it did until then is in `output`.
    #[error("{failure}")]
    Failed {
        /// Why.
        #[source]
        failure: RunFailure,
        /// What the run left behind.
        output: Arc<AgentOutput>,
    },
    /// The run's task was ended from outside before it could finish (its runtime was shut down).
    #[error("the run was ended from outside: {0}")]
    Lost(String),
    /// Saved messages could not be read.
    #[error("the saved messages cannot be read: {0}")]
    UnreadableMessages(String),
}

/// The most events a broadcast channel may hold for its slowest subscriber.
pub(crate) const BROADCAST_EVENTS_MAX: usize = 65_536;

/// An agent that cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// No model service was given.
    #[error("an agent needs a provider: call .provider(...) on the builder")]
    NoProvider,
    /// A batch of no tools would never end.
    #[error("a batch of tools needs a size of at least 1")]
    EmptyBatch,
    /// A broadcast channel without room, or with more than memory should hold.
    #[error("enable_broadcast takes from 1 to {BROADCAST_EVENTS_MAX} events, not {0}")]
    BroadcastCapacity(usize),
    /// Events and instructions name a source, so that two of one name could not be told apart.
    #[error("two tool sources are named {0:?}; give each source a name of its own")]
    DuplicateToolSource(String),
    /// The tools do not fit together.
    #[error(transparent)]
    Tools(#[from] ToolboxError),
}

/// Tools that do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolboxError {
    /// Two tools of one name.
    #[error("two tools are named {0:?}")]
    Duplicate(String),
    /// A tool without a name.
    #[error("a tool has an empty name")]
    Unnamed,
    /// A schema that is none.
    #[error("the schema of tool {name:?} is not a JSON Schema: {problem}")]
    InvalidSchema {
        /// Which tool.
        name: String,
        /// What is wrong.
        problem: String,
    },
}

/// A child that cannot be told anything.
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
#[error("no approval request {request_id} is open: it was answered already, withdrawn, or never asked")]
pub struct PermissionError {
    /// The id that was answered.
    pub request_id: ApprovalId,
}
