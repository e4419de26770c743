//! The runtime that commands run on.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::failure::Failure;

/// How long the program waits at exit for background work.
const WAIT_MAX: Duration = Duration::from_millis(500);

/// Runs `work` to completion. This thread writes output; one worker thread runs the agent and handles signals, also while this one
/// waits for a slow terminal. Long work has its own threads; more workers would only pass events to each other.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = runtime().map_err(thread_failure)?;
    let done = runtime.block_on(work);
    // Background work owns temporary directories; it stops soon and removes them.
    runtime.shutdown_timeout(WAIT_MAX);
    done
}

/// How long a thread for blocking work waits for more of it.
const KEEP_ALIVE: Duration = Duration::from_secs(60 * 60);

fn runtime() -> io::Result<Runtime> {
    // Tokio panics where it cannot start its first thread, so try that before.
    start_thread("rheon-first", || {})?.join().ok();
    let runtime =
        Builder::new_multi_thread().worker_threads(1).thread_keep_alive(KEEP_ALIVE).enable_all().build()?;
    // With one thread for blocking work there is always a thread for it, also where the machine has no more later: the
    // work waits for its turn instead of forever.
    drop(runtime.spawn_blocking(|| {}));
    Ok(runtime)
}

/// Starts a thread that is not awaited. The machine may have no more threads.
pub(crate) fn start_thread(
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<std::thread::JoinHandle<()>> {
    std::thread::Builder::new().name(name.into()).spawn(work)
}

pub(crate) fn thread_failure(error: io::Error) -> Failure {
    Failure::error(format_args!(
        "cannot start a thread: {error}; too many processes may be running, or a limit is too low (ulimit -u, ulimit -v)"
    ))
}
