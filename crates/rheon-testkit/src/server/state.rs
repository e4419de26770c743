//! State shared by all connections of a server.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::record::Records;
use super::script::{Script, ScriptState};

#[derive(Debug)]
pub(crate) struct State {
    script_state: Mutex<ScriptState>,
    pub(crate) records: Records,
    /// Ticks that slow responses wait for.
    pub(crate) ticks: Semaphore,
    /// Canceled when the server is dropped.
    pub(crate) stop: CancellationToken,
}

impl State {
    pub(crate) fn new(script: Script) -> Self {
        Self {
            script_state: Mutex::new(ScriptState::new(script)),
            records: Records::default(),
            ticks: Semaphore::new(0),
            stop: CancellationToken::new(),
        }
    }

    pub(crate) fn script_state(&self) -> MutexGuard<'_, ScriptState> {
        self.script_state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `task` until it finishes or the server is dropped.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = task => {}
                () = stop.cancelled() => {}
            }
        });
    }
}
