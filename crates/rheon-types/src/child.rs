//! What a parent and its child know about each other: task, approvals and result.

use std::sync::Arc;

use crate::event::{ApprovalRequest, ChildRef};
use crate::id::{RunId, SessionId, ToolCallId};
use crate::outcome::AgentOutput;

/// The agent that runs a task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentDefinition {
    /// Its name, which users see with its approval requests.
    pub name: String,
    /// Its system prompt.
    pub system_prompt: Option<Arc<str>>,
}

/// The tool call of a parent that a child works for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentLink {
    /// The parent's session.
    pub session_id: SessionId,
    /// The parent's run.
    pub run_id: RunId,
    /// The tool call that started the child, where one did.
    pub call_id: Option<ToolCallId>,
}

/// The result of a child.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerOutput {
    /// Its ids.
    pub child: ChildRef,
    /// The output of its run.
    pub output: Arc<AgentOutput>,
}

/// An approval request of a child.
#[derive(Debug, Clone, PartialEq)]
pub struct ChildApproval {
    /// The name of the child's agent.
    pub agent: String,
    /// The request of the child's session.
    pub request: Arc<ApprovalRequest>,
}

/// A worker that could not do its task.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("worker {worker} failed: {message}")]
pub struct WorkerError {
    /// Which worker.
    pub worker: String,
    /// The error message.
    pub message: String,
    /// Its output, if a run was started.
    pub output: Option<Box<WorkerOutput>>,
}

impl WorkerError {
    /// An error of `worker` before its run began.
    pub fn new(worker: impl Into<String>, message: impl std::fmt::Display) -> Self {
        Self { worker: worker.into(), message: message.to_string(), output: None }
    }

    /// An error of a run, with what it left.
    pub fn from_run(
        worker: impl Into<String>,
        message: impl std::fmt::Display,
        output: WorkerOutput,
    ) -> Self {
        Self { output: Some(Box::new(output)), ..Self::new(worker, message) }
    }
}
