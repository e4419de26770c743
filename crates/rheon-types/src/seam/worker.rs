//! `Worker`: somebody who can do a task, an agent in this process or a program outside it.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::answer::BoxFuture;
use crate::error::WorkerError;
use crate::event::Event;
use crate::id::RunId;
use crate::outcome::AgentOutput;

/// What a worker is to do.
#[derive(Debug, Clone)]
pub struct Task {
    /// The task, in words.
    pub prompt: String,
    /// The run that asks.
    pub parent_run_id: Option<RunId>,
    /// Fires when the task should stop.
    pub cancel: CancellationToken,
}

/// Somebody who can do a task.
pub trait Worker: Send + Sync {
    /// A name for people.
    fn name(&self) -> &str;

    /// Does the task; `observe` sees the worker's events as they happen.
    fn run(
        &self,
        task: Task,
        observe: Arc<dyn Fn(&Event) + Send + Sync>,
    ) -> BoxFuture<'_, Result<AgentOutput, WorkerError>>;
}
