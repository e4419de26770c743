//! `PersonWait`: the time a run waits for a person, which counts against no limit.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rheon_types::Budget;
use tokio::sync::watch;
use tokio::time::Instant;

/// Counts the questions that wait for a person, and for how long at least one of them did.
pub(crate) struct PersonWait {
    times: Mutex<WaitTimes>,
    /// How many questions are open.
    open: watch::Sender<usize>,
    /// Learns of every wait, so that its own time limit leaves it out.
    budget: Option<Arc<dyn Budget>>,
}

#[derive(Debug, Default)]
struct WaitTimes {
    /// When the first of the open questions was asked.
    since: Option<Instant>,
    /// All waits that are over.
    past: Duration,
}

/// A question that waits for a person, until it is dropped.
pub(crate) struct OpenWait(Arc<PersonWait>);

impl PersonWait {
    pub(crate) fn new(budget: Option<Arc<dyn Budget>>) -> Self {
        Self { times: Mutex::default(), open: watch::Sender::new(0), budget }
    }

    /// Starts to wait for the answer to a question.
    pub(crate) fn begin(self: &Arc<Self>) -> OpenWait {
        let mut times = self.times();
        times.since.get_or_insert_with(Instant::now);
        self.open.send_modify(|open| *open += 1);
        drop(times);
        OpenWait(Arc::clone(self))
    }

    /// How long the run has waited so far.
    pub(crate) fn total(&self) -> Duration {
        let times = self.times();
        times.past + times.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Returns once `limit` has passed since `started`, waits left out.
    pub(crate) async fn outlast(&self, started: Instant, limit: Duration) {
        let mut open = self.open.subscribe();
        loop {
            let is_waiting = *open.borrow_and_update() > 0;
            let left = limit.saturating_sub(started.elapsed().saturating_sub(self.total()));
            if !is_waiting && left.is_zero() {
                return;
            }
            let passed = async {
                if is_waiting { std::future::pending().await } else { tokio::time::sleep(left).await }
            };
            tokio::select! {
                () = passed => {}
                changed = open.changed() => {
                    if changed.is_err() {
                        return;
                    }
                }
            }
        }
    }

    fn end(&self) {
        let mut times = self.times();
        let mut is_last = false;
        self.open.send_modify(|open| {
            *open = open.saturating_sub(1);
            is_last = *open == 0;
        });
        let Some(since) = times.since.take_if(|_| is_last) else { return };
        let waited = since.elapsed();
        times.past += waited;
        drop(times);
        if let Some(budget) = &self.budget {
            budget.exclude(waited);
        }
    }

    fn times(&self) -> MutexGuard<'_, WaitTimes> {
        // No code panics while it holds the lock.
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenWait {
    fn drop(&mut self) {
        self.0.end();
    }
}
