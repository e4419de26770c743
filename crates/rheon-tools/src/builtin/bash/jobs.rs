//! Background commands: each is a task that owns its process, and ends with the session.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use rheon_sandbox::process::{
    Capture, Launcher, ProcessError, ProcessOutcome, ProcessTree, ShellLine, StopCondition, finish, start,
};

/// How a background command ended, or why it did not run; absent while it runs.
pub(super) type Outcome = Option<Result<ProcessOutcome, Arc<ProcessError>>>;

/// A background command.
pub(super) struct Job {
    capture: Arc<Mutex<Capture>>,
    outcome: watch::Receiver<Outcome>,
    cancel: CancellationToken,
    killer: ProcessTree,
    task: JoinHandle<()>,
}

/// All background commands of a session.
#[derive(Default)]
pub(super) struct Jobs {
    all: BTreeMap<u64, Arc<Job>>,
    last: u64,
}

/// The most background commands that are known at once, ended ones included until there is need for their place.
const JOBS_MAX: usize = 32;

impl Job {
    pub(super) fn start(
        line: &ShellLine,
        launcher: Launcher,
        capture: Capture,
    ) -> Result<Self, ProcessError> {
        let process = start(line, launcher)?;
        let killer = process.process_tree();
        let capture = Arc::new(Mutex::new(capture));
        let cancel = CancellationToken::new();
        let (sender, outcome) = watch::channel(None);
        let (task_capture, stop) =
            (Arc::clone(&capture), StopCondition { timeout: None, cancel: cancel.clone() });
        let task = tokio::spawn(async move {
            let ended = finish(process, stop, &task_capture, |_| {}).await;
            sender.send_replace(Some(ended.map_err(Arc::new)));
        });
        Ok(Self { capture, outcome, cancel, killer, task })
    }

    /// How it ended, if it has.
    pub(super) fn outcome(&self) -> Outcome {
        self.outcome.borrow().clone()
    }

    /// What arrived since the last call.
    pub(super) fn take_output(&self) -> rheon_sandbox::process::Output {
        self.capture.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Ends it, and waits until it has ended.
    pub(super) async fn kill(&self) {
        self.cancel.cancel();
        // An error means that the task is gone, and the process with it.
        drop(self.outcome.clone().wait_for(Option::is_some).await);
    }
}

/// The process is ended here, because the task is dropped only when the runtime comes round to it.
impl Drop for Job {
    fn drop(&mut self) {
        self.killer.kill();
        self.task.abort();
    }
}

impl Jobs {
    /// Whether there is place for one more; an ended one makes room.
    pub(super) fn make_room(&mut self) -> bool {
        if self.all.len() >= JOBS_MAX {
            let ended = self.all.iter().find(|(_, job)| job.outcome().is_some()).map(|(number, _)| *number);
            return ended.is_some_and(|number| self.all.remove(&number).is_some());
        }
        true
    }

    /// Adds one; its id.
    pub(super) fn add(&mut self, job: Job) -> String {
        self.last += 1;
        self.all.insert(self.last, Arc::new(job));
        format!("{PREFIX}{}", self.last)
    }

    pub(super) fn get(&self, id: &str) -> Option<Arc<Job>> {
        self.all.get(&id.strip_prefix(PREFIX)?.parse().ok()?).cloned()
    }

    /// The ids of all, for a model that has forgotten one.
    pub(super) fn ids(&self) -> Vec<String> {
        self.all.keys().map(|number| format!("{PREFIX}{number}")).collect()
    }
}

const PREFIX: &str = "bash-";
