//! Checkpoints of sessions that were deleted go.

use super::error::RewindError;
use crate::checkpoint::{Checkpoints, Pruned};
use crate::sessions::Sessions;

/// Removes the checkpoints of sessions that are no more, and what only those used. Where it cannot be told whether there is
/// such a session, its checkpoints stay.
pub fn sweep(sessions: &Sessions, checkpoints: &Checkpoints) -> Result<Pruned, RewindError> {
    // Asked for each one under the lock: a session is written down before its first checkpoint is made.
    Ok(checkpoints.forget(|name| sessions.contains(name).is_ok_and(|is_there| !is_there))?)
}
