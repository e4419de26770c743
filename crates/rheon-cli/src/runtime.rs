//! The runtime that commands run on.

use std::future::Future;
use std::time::Duration;

use crate::failure::Failure;

/// How long the program waits at exit for background work.
const WAIT_MAX: Duration = Duration::from_millis(500);

/// Runs `work` to completion. This thread writes output; one worker thread runs the agent and handles signals, also while this one
/// waits for a slow terminal. Long work has its own threads; more workers would only pass events to each other.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::error(format_args!("cannot start: {error}")))?;
    let done = runtime.block_on(work);
    // Background work owns temporary directories; it stops soon and removes them.
    runtime.shutdown_timeout(WAIT_MAX);
    done
}
