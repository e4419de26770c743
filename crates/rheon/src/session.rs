//! `WithSession`: a builder goes on with a session from disk.

use std::sync::Arc;

use rheon_agent::{AgentBuilder, LogPosition};
use rheon_store::sessions::{JournalStore, Resumed};
use rheon_types::Store;

/// Keeps sessions on disk, and goes on with them.
pub trait WithSession {
    /// Keeps the sessions of the agent in `journals`.
    fn journals(self, journals: &Arc<JournalStore>) -> Self;

    /// Goes on with a session that [`JournalStore::resume`] or [`JournalStore::fork`] has opened.
    fn resumed(self, journals: &Arc<JournalStore>, resumed: &Resumed) -> Self;
}

impl WithSession for AgentBuilder {
    fn journals(self, journals: &Arc<JournalStore>) -> Self {
        self.store(Arc::clone(journals) as Arc<dyn Store>)
    }

    fn resumed(self, journals: &Arc<JournalStore>, resumed: &Resumed) -> Self {
        let state = &resumed.state;
        let loops = state.loops().iter().map(|(name, n)| (name.clone(), *n)).collect();
        let builder = match &state.session_id {
            Some(session_id) => self.session(session_id.clone()),
            None => self,
        };
        builder
            .journals(journals)
            .history(state.messages().into_iter().collect())
            .position(LogPosition { seq: state.seq, loops, tasks: state.tasks.clone() })
    }
}
