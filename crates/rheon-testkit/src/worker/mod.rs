//! Test workers: scripts for workers, two workers that play them, and the conformance suite.

mod agent;
mod conformance;
mod parent;
mod scripted;

use rheon_types::Usage;
use serde_json::Value;

pub use agent::scripted_agent_worker;
pub use conformance::worker_conformance;
pub use parent::TestParent;
pub use scripted::ScriptedWorker;

/// What a worker's child does: one list of steps per task; the last one repeats.
#[derive(Debug, Clone, Default)]
pub struct WorkerScript {
    /// The steps of each task.
    pub tasks: Vec<Vec<WorkerStep>>,
}

impl WorkerScript {
    /// A script with one task.
    pub fn new(steps: impl IntoIterator<Item = WorkerStep>) -> Self {
        Self::default().then(steps)
    }

    /// Adds a task.
    pub fn then(mut self, steps: impl IntoIterator<Item = WorkerStep>) -> Self {
        self.tasks.push(steps.into_iter().collect());
        self
    }

    fn steps(&self, task: usize) -> Vec<WorkerStep> {
        self.tasks.get(task).or_else(|| self.tasks.last()).cloned().unwrap_or_default()
    }
}

/// What a child does in one turn.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkerStep {
    /// Answers with this text and ends, with the usage [`WorkerStep::USAGE`].
    Say(String),
    /// Calls the tool `act` with these arguments; it needs approval and returns `acted`.
    Act(Value),
    /// Waits for a message, and ends with `heard: ` and its text.
    Listen,
    /// Does nothing until canceled.
    Hang,
    /// Fails with this message.
    Fail(String),
    /// Panics.
    Panic,
}

impl WorkerStep {
    /// The usage of a text step.
    pub const USAGE: Usage = Usage { input: 100, output: 20, cache_read: 0, cache_write: 0, total_tokens: 0 };

    /// Answers with `text`.
    pub fn say(text: impl Into<String>) -> Self {
        Self::Say(text.into())
    }
}
