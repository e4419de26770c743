//! Workers for tests: what a worker is to do as a script, two workers that play it, and the suite that every worker passes.

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

/// What the child of a worker does: one list of steps for each task, the last one for all that follow.
#[derive(Debug, Clone, Default)]
pub struct WorkerScript {
    /// The steps of each task.
    pub tasks: Vec<Vec<WorkerStep>>,
}

impl WorkerScript {
    /// A script of one task.
    pub fn new(steps: impl IntoIterator<Item = WorkerStep>) -> Self {
        Self::default().then(steps)
    }

    /// The same with one more task.
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
    /// Says this and is done, at the price of [`WorkerStep::USAGE`].
    Say(String),
    /// Calls the tool `act`, which needs an approval and gives back `acted`, with these arguments.
    Act(Value),
    /// Waits for a message, and is done with `heard: ` and its text.
    Listen,
    /// Does nothing until it is cancelled.
    Hang,
    /// Fails with this message.
    Fail(String),
    /// Panics.
    Panic,
}

impl WorkerStep {
    /// What a step of talking takes.
    pub const USAGE: Usage = Usage { input: 100, output: 20, cache_read: 0, cache_write: 0, total_tokens: 0 };

    /// Says `text`.
    pub fn say(text: impl Into<String>) -> Self {
        Self::Say(text.into())
    }
}
