//! Why a run stops early, and the signal that stops it.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rheon_types::{HookPoint, LimitKind, RunEnd, RunFailure};
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::person_wait::PersonWait;

/// Why a step cannot continue.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The run was canceled.
    Cancelled,
    /// The run took too long.
    OutOfTime(Duration),
    /// The budget cannot pay for the next call.
    OutOfBudget(String),
    /// A hook vetoed it.
    Vetoed { point: HookPoint, message: String },
    /// The model repeats itself.
    Stuck(String),
    /// Something failed.
    Failed(RunFailure),
}

impl From<Halt> for RunEnd {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Cancelled => Self::Aborted,
            Halt::OutOfTime(limit) => Self::Limit { limit: LimitKind::Duration, message: out_of_time(limit) },
            Halt::OutOfBudget(message) => Self::Limit { limit: LimitKind::Budget, message },
            Halt::Vetoed { point, message } => Self::Vetoed { point, message },
            Halt::Stuck(message) => Self::Stuck { message },
            Halt::Failed(failure) => Self::Failed { failure },
        }
    }
}

/// The message for a run that took too long.
pub(crate) fn out_of_time(limit: Duration) -> String {
    format!("the time limit of {} s was reached", limit.as_secs_f64())
}

/// The limit named in an [`out_of_time`] message.
pub(crate) fn limit_in(message: &str) -> Option<Duration> {
    let seconds = message.strip_prefix("the time limit of ")?.strip_suffix(" s was reached")?;
    Duration::try_from_secs_f64(seconds.parse().ok()?).ok()
}

/// Fires when a run has to stop: it was canceled or is out of time.
pub(crate) struct StopSignal {
    token: CancellationToken,
    deadline: Option<Deadline>,
    /// The deadline for cleanup, shared by everything the run still waits for.
    patience: OnceLock<Instant>,
    waits: Arc<PersonWait>,
}

struct Deadline {
    limit: Duration,
    passed: Arc<AtomicBool>,
    timer: Option<AbortHandle>,
}

impl StopSignal {
    /// Fires with `parent`, and once `limit` has passed without the time in `waits`.
    pub(crate) fn new(parent: &CancellationToken, limit: Option<Duration>, waits: Arc<PersonWait>) -> Self {
        let token = parent.child_token();
        let deadline = limit.map(|limit| {
            let passed = Arc::new(AtomicBool::new(false));
            let (flag, late, waits) = (Arc::clone(&passed), token.clone(), Arc::clone(&waits));
            let started = Instant::now();
            let timer = tokio::spawn(async move {
                waits.outlast(started, limit).await;
                flag.store(true, Ordering::Release);
                late.cancel();
            });
            Deadline { limit, passed, timer: Some(timer.abort_handle()) }
        });
        Self { token, deadline, patience: OnceLock::new(), waits }
    }

    /// Fires with `token`, and counts as out of time if `passed` is set by then. For replays: it measures nothing.
    pub(crate) fn scripted(
        token: CancellationToken,
        passed: Arc<AtomicBool>,
        limit: Option<Duration>,
    ) -> Self {
        let deadline = limit.map(|limit| Deadline { limit, passed, timer: None });
        Self { token, deadline, patience: OnceLock::new(), waits: Arc::new(PersonWait::new(None)) }
    }

    /// The time the run waits for a person.
    pub(crate) fn waits(&self) -> &Arc<PersonWait> {
        &self.waits
    }

    pub(crate) fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// Why it fired.
    pub(crate) fn halt(&self) -> Halt {
        match &self.deadline {
            Some(deadline) if deadline.passed.load(Ordering::Acquire) => Halt::OutOfTime(deadline.limit),
            Some(_) | None => Halt::Cancelled,
        }
    }

    /// Waits for `future`, or stops immediately.
    pub(crate) async fn or<T>(&self, future: impl Future<Output = T>) -> Result<T, Halt> {
        tokio::select! {
            biased;
            () = self.token.cancelled() => Err(self.halt()),
            value = future => Ok(value),
        }
    }

    /// Waits for `future`; once the run has to stop, for at most `grace` in total.
    pub(crate) async fn or_grace<T>(&self, future: impl Future<Output = T>, grace: Duration) -> Option<T> {
        let late = async {
            self.token.cancelled().await;
            tokio::time::sleep_until(*self.patience.get_or_init(|| Instant::now() + grace)).await;
        };
        tokio::select! {
            biased;
            value = future => Some(value),
            () = late => None,
        }
    }
}

/// Cancels the token when the run ends, so that tasks left behind by its tools stop.
impl Drop for StopSignal {
    fn drop(&mut self) {
        self.token.cancel();
        if let Some(timer) = self.deadline.as_ref().and_then(|deadline| deadline.timer.as_ref()) {
            timer.abort();
        }
    }
}
