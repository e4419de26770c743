//! What is tried again when another process is in the way, and how long that goes on.

use std::thread;
use std::time::Duration;

use crate::sqlite::rusqlite::{Error, ErrorCode};

/// How long the database itself waits for a lock before it reports that it is busy.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The pauses between attempts. The database reports some conflicts at once, without waiting: two processes that turn
/// a new file into one with a write-ahead log are an example.
const PAUSES_MS: [u64; 8] = [2, 5, 10, 25, 50, 100, 200, 400];

/// The result of `attempt`, tried again while other processes are in the way.
pub(super) fn while_busy<T>(mut attempt: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    for pause_ms in PAUSES_MS {
        match attempt() {
            Err(error) if is_busy(&error) => thread::sleep(Duration::from_millis(pause_ms)),
            outcome => return outcome,
        }
    }
    attempt()
}

fn is_busy(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
