//! The runtime that commands run on.

use std::future::Future;

use crate::failure::Failure;

/// Runs `work` to its end. This thread does the writing; others run the agent and hear signals, also while this one waits for a
/// terminal that does not read.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::error(format_args!("cannot start: {error}")))?;
    let done = runtime.block_on(work);
    // A thread that reads standard input cannot be stopped; nobody waits for it.
    runtime.shutdown_background();
    done
}
