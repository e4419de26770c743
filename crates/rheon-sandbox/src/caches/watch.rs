//! `QuotaWatch`: measures the layers of a running session now and then. `CacheReports`: takes problems for the user.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::quota::measure;

/// Takes what the user should know about the package caches.
#[derive(Clone)]
pub struct CacheReports(Arc<dyn Fn(String) + Send + Sync>);

impl CacheReports {
    pub fn new(report: impl Fn(String) + Send + Sync + 'static) -> Self {
        Self(Arc::new(report))
    }

    pub fn report(&self, problem: String) {
        (self.0)(problem);
    }
}

/// Reports nothing.
impl Default for CacheReports {
    fn default() -> Self {
        Self::new(|_| {})
    }
}

impl fmt::Debug for CacheReports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CacheReports")
    }
}

/// Measures a slot while its session runs. Once it is over the limit, it stays full until the session ends.
#[derive(Debug)]
pub(super) struct QuotaWatch {
    commands: AtomicU64,
    state: Arc<WatchState>,
}

#[derive(Debug)]
struct WatchState {
    slot: PathBuf,
    bytes_max: u64,
    reports: CacheReports,
    is_measuring: AtomicBool,
    is_full: AtomicBool,
}

/// Counting the files of large caches takes a while, so it is done in the background, before every eighth command.
const MEASURE_EVERY: u64 = 8;

impl QuotaWatch {
    pub(super) fn new(slot: PathBuf, bytes_max: u64, reports: CacheReports) -> Self {
        let (is_measuring, is_full) = (AtomicBool::new(false), AtomicBool::new(false));
        let state = WatchState { slot, bytes_max, reports, is_measuring, is_full };
        Self { commands: AtomicU64::new(0), state: Arc::new(state) }
    }

    pub(super) fn is_full(&self) -> bool {
        let is_full = self.state.is_full.load(Ordering::Relaxed);
        let count = self.commands.fetch_add(1, Ordering::Relaxed);
        if !is_full && count % MEASURE_EVERY == MEASURE_EVERY - 1 {
            let state = Arc::clone(&self.state);
            // Without a thread the limit holds from the next session on.
            drop(std::thread::Builder::new().name("rheon-caches".into()).spawn(move || state.measure()));
        }
        is_full
    }
}

impl WatchState {
    fn measure(&self) {
        if self.is_measuring.swap(true, Ordering::AcqRel) {
            return;
        }
        let bytes = measure(&self.slot);
        if bytes > self.bytes_max && !self.is_full.swap(true, Ordering::AcqRel) {
            self.reports.report(format!(
                "the package caches of this session have {bytes} bytes, more than sandbox.cache_bytes_max ({}); they are \
                 read-only for commands until the session ends, and the next one begins with empty layers",
                self.bytes_max
            ));
        }
        self.is_measuring.store(false, Ordering::Release);
    }
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
