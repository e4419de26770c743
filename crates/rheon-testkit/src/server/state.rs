//! What all connections of one server share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::record::Records;
use super::script::{Cast, Script};

/// What all connections of one server share.
#[derive(Debug)]
pub(crate) struct State {
    cast: Mutex<Cast>,
    /// What has been seen and done.
    pub(crate) records: Records,
    /// Ticks that slow answers wait for.
    pub(crate) ticks: Semaphore,
    /// Cancelled when the server is dropped.
    pub(crate) stop: CancellationToken,
}

impl State {
    pub(crate) fn new(script: Script) -> Self {
        Self {
            cast: Mutex::new(Cast::new(script)),
            records: Records::default(),
            ticks: Semaphore::new(0),
            stop: CancellationToken::new(),
        }
    }

    /// The script at work.
    pub(crate) fn cast(&self) -> MutexGuard<'_, Cast> {
        self.cast.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `task` until it is done or the server is dropped.
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
