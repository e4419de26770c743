//! `Worker`: runs a task for a parent, as an agent in this process or as a program outside it.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Budget;
use crate::answer::{Answer, BoxFuture};
use crate::child::{AgentDefinition, ChildApproval, ParentLink, WorkerError, WorkerOutput};
use crate::content::Content;
use crate::event::{Event, PermissionMode, PermissionResponse};
use crate::id::SessionId;
use crate::message::AgentMessage;
use crate::request::OutputSchema;

/// Everything a child needs to know. What is absent is up to the worker.
#[derive(Debug, Clone, Default)]
pub struct Task {
    /// The agent that is to do it.
    pub agent: AgentDefinition,
    /// What it is to do.
    pub prompt: Vec<Content>,
    /// Files that belong to the prompt.
    pub attachments: Vec<PathBuf>,
    /// The model, `vendor/model`.
    pub model: Option<Arc<str>>,
    /// The names of the tools it may use.
    pub tools: Option<Vec<String>>,
    /// Its permission mode.
    pub mode: Option<PermissionMode>,
    /// The form its answer must have.
    pub output_schema: Option<Arc<OutputSchema>>,
    /// Its working directory.
    pub working_directory: Option<PathBuf>,
    /// Its share of the parent's budget.
    pub budget: Option<Arc<dyn Budget>>,
    /// The session to resume; a new one if absent.
    pub resume: Option<SessionId>,
    /// Who asks for it.
    pub parent: Option<ParentLink>,
    /// Kept in the child's `agent.start`.
    pub metadata: Option<Arc<Value>>,
}

impl Task {
    /// A task for the agent `name`: a text, and nothing else said.
    pub fn new(name: impl Into<String>, prompt: impl Into<String>) -> Self {
        let agent = AgentDefinition { name: name.into(), system_prompt: None };
        Self { agent, prompt: vec![Content::text(prompt)], ..Self::default() }
    }
}

/// Runs tasks. Every worker passes the conformance suite of `rheon-testkit`.
pub trait Worker: Send + Sync {
    /// The name in messages.
    fn name(&self) -> &str;

    /// Runs a task to its end. A cancelled run ends with [`RunEnd::Aborted`](crate::RunEnd::Aborted); only a run that failed, or never
    /// began, is an error. When this returns, nothing of the child is running any more.
    fn run(&self, task: Task, parent: Arc<dyn Parent>) -> BoxFuture<'_, Result<WorkerOutput, WorkerError>>;
}

/// How a worker reaches whoever asked for its task.
pub trait Parent: Send + Sync {
    /// Shows an event of the child. It bears the child's own session and run ids.
    fn observe(&self, event: &Event);

    /// Asks whether a tool call of the child may run; nothing if nobody can answer.
    fn ask<'a>(&'a self, approval: ChildApproval) -> Answer<'a, Option<PermissionResponse>>;

    /// Waits for the next message to the running child; nothing once no more can come.
    fn next_message(&self) -> BoxFuture<'_, Option<AgentMessage>> {
        Box::pin(async { None })
    }

    /// Waits for the next message that the child is to get once its run would otherwise stop; nothing once no more can come. A
    /// worker that cannot wait so long says it as any other message.
    fn next_follow_up(&self) -> BoxFuture<'_, Option<AgentMessage>> {
        Box::pin(async { None })
    }

    /// Fires when the child should stop.
    fn cancel_token(&self) -> CancellationToken;
}
