//! Runs again from their log alone: the model, the tools and the clock come from the log, and every event must come out the same.

pub use rheon_agent::replay::*;

#[cfg(feature = "store")]
use rheon_store::SessionName;
#[cfg(feature = "store")]
use rheon_store::sessions::{SessionFileError, SessionFiles};

#[cfg(feature = "store")]
/// Why a saved session was not replayed to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReplaySessionError {
    /// Its journal cannot be read.
    #[error("cannot read the session: {0}")]
    Unreadable(#[source] SessionFileError),
    /// The first event that comes out differently.
    #[error("{0}")]
    Left(#[source] ReplayError),
}

#[cfg(feature = "store")]
/// Runs the loop again from the journal of a session, with the journals of the sessions it was forked from. No model is called and no
/// tool runs; the first event that comes out differently is the error.
pub fn replay_session(
    sessions: &SessionFiles,
    name: &SessionName,
    until: ReplayUntil,
) -> Result<ReplayOutcome, ReplaySessionError> {
    let mut events = Vec::new();
    sessions.read(name, |event| events.push(event)).map_err(ReplaySessionError::Unreadable)?;
    replay(events, until).map_err(ReplaySessionError::Left)
}
