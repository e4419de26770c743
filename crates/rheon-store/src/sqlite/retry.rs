//! Retries operations while another process holds the database.

use std::thread;
use std::time::Duration;

use crate::sqlite::rusqlite::{Error, ErrorCode};

/// How long SQLite waits for a lock before it reports that the database is busy.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The pauses between attempts. SQLite reports some conflicts without waiting, for example when two processes switch
/// a new file to a write-ahead log.
const PAUSES_MS: [u64; 8] = [2, 5, 10, 25, 50, 100, 200, 400];

/// Retries `attempt` while the database is busy.
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
