//! `WithSession`: a builder goes on with a session from disk. `replay_session`: the session again, from its journal alone.

use std::sync::Arc;

use rheon_agent::replay::{ReplayError, Replayed, Until, replay};
use rheon_agent::{AgentBuilder, LogPosition};
use rheon_store::SessionName;
use rheon_store::sessions::{JournalStore, ResumedSession, SessionFileError, SessionFiles};
use rheon_types::Store;

/// Keeps sessions on disk, and goes on with them.
pub trait WithSession {
    /// Keeps the sessions of the agent in `journals`.
    fn journals(self, journals: &Arc<JournalStore>) -> Self;

    /// Goes on with a session that [`JournalStore::resume`] or [`JournalStore::fork`] has opened.
    fn resumed(self, journals: &Arc<JournalStore>, resumed: &ResumedSession) -> Self;
}

impl WithSession for AgentBuilder {
    fn journals(self, journals: &Arc<JournalStore>) -> Self {
        self.store(Arc::clone(journals) as Arc<dyn Store>)
    }

    fn resumed(self, journals: &Arc<JournalStore>, resumed: &ResumedSession) -> Self {
        let state = &resumed.state;
        let run_counts = state.run_counts().iter().map(|(name, n)| (name.clone(), *n)).collect();
        let builder = match &state.session_id {
            Some(session_id) => self.session(session_id.clone()),
            None => self,
        };
        builder
            .journals(journals)
            .history(state.messages().into_iter().collect())
            .cuts(state.cuts().to_vec())
            .position(LogPosition { seq: state.seq, run_counts, tasks: state.tasks.clone() })
    }
}

/// Why a session on disk was not replayed to its end.
#[derive(Debug)]
pub enum ReplaySessionError {
    /// Its journal cannot be read.
    Unreadable(SessionFileError),
    /// The loop leaves it.
    Left(ReplayError),
}

impl std::fmt::Display for ReplaySessionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "the session cannot be read: {error}"),
            Self::Left(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for ReplaySessionError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable(error) => Some(error),
            Self::Left(error) => Some(error),
        }
    }
}

/// Runs the loop again from the journal of a session, those of the sessions it goes on from included. No model is called
/// and no tool runs; the first event that comes out differently is the error.
pub fn replay_session(
    sessions: &SessionFiles,
    name: &SessionName,
    until: Until,
) -> Result<Replayed, ReplaySessionError> {
    let mut events = Vec::new();
    sessions.read(name, |event| events.push(event)).map_err(ReplaySessionError::Unreadable)?;
    replay(events, until).map_err(ReplaySessionError::Left)
}
