//! Background commands. Each is a task that owns its process, and stops with the session.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use rheon_sandbox::SandboxCall;
use rheon_sandbox::process::{
    Capture, ProcessError, ProcessOutcome, ProcessTree, ShellLine, StopCondition, finish, start,
};

/// The outcome of a background command. `None` while it runs.
pub(super) type Outcome = Option<Result<ProcessOutcome, Arc<ProcessError>>>;

pub(super) struct Job {
    capture: Arc<Mutex<Capture>>,
    outcome: watch::Receiver<Outcome>,
    cancel: CancellationToken,
    killer: ProcessTree,
    task: JoinHandle<()>,
    /// Its access to hosts ends with this.
    sandbox: SandboxCall,
}

#[derive(Default)]
pub(super) struct Jobs {
    all: BTreeMap<u64, Arc<Job>>,
    last: u64,
}

/// The most background commands, including finished ones until their slot is needed.
const JOBS_MAX: usize = 32;

impl Job {
    pub(super) fn start(
        line: &ShellLine,
        sandbox: SandboxCall,
        capture: Capture,
    ) -> Result<Self, ProcessError> {
        let process = start(line, sandbox.launcher())?;
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
        Ok(Self { capture, outcome, cancel, killer, task, sandbox })
    }

    pub(super) fn sandbox(&self) -> &SandboxCall {
        &self.sandbox
    }

    pub(super) fn outcome(&self) -> Outcome {
        self.outcome.borrow().clone()
    }

    /// The output since the last call.
    pub(super) fn take_output(&self) -> rheon_sandbox::process::Output {
        self.capture.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Stops it and waits for it to exit.
    pub(super) async fn kill(&self) {
        self.cancel.cancel();
        // An error means that the task ended, and the process with it.
        drop(self.outcome.clone().wait_for(Option::is_some).await);
    }
}

/// Kills the process here, because the runtime drops the task only later.
impl Drop for Job {
    fn drop(&mut self) {
        self.killer.kill();
        self.task.abort();
    }
}

impl Jobs {
    /// Whether there is room for one more. A finished command makes room.
    pub(super) fn make_room(&mut self) -> bool {
        if self.all.len() >= JOBS_MAX {
            let ended = self.all.iter().find(|(_, job)| job.outcome().is_some()).map(|(number, _)| *number);
            return ended.is_some_and(|number| self.all.remove(&number).is_some());
        }
        true
    }

    /// Adds a command and returns its id.
    pub(super) fn add(&mut self, job: Job) -> String {
        self.last += 1;
        self.all.insert(self.last, Arc::new(job));
        format!("{PREFIX}{}", self.last)
    }

    pub(super) fn get(&self, id: &str) -> Option<Arc<Job>> {
        self.all.get(&id.strip_prefix(PREFIX)?.parse().ok()?).cloned()
    }

    /// All ids, for a model that forgot one.
    pub(super) fn ids(&self) -> Vec<String> {
        self.all.keys().map(|number| format!("{PREFIX}{number}")).collect()
    }
}

const PREFIX: &str = "bash-";
