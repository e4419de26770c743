//! The runtime that commands run on.

use std::future::Future;
use std::time::Duration;

use crate::failure::Failure;

/// How long the end of the program waits for what is still at work.
const WAIT_MAX: Duration = Duration::from_millis(500);

/// Runs `work` to its end. This thread does the writing; another runs the agent and hears signals, also while this one waits for a
/// terminal that does not read. What takes long has threads of its own; more of these two would only pass work to each other.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::error(format_args!("cannot start: {error}")))?;
    let done = runtime.block_on(work);
    // What is still at work in the background holds temporary folders, which go with it; it is told to stop and does so soon.
    runtime.shutdown_timeout(WAIT_MAX);
    done
}
