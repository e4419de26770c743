//! `FileSessionStore`: a directory of session files behind `SessionStore`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Once, PoisonError};

use rheon_types::{AgentId, Answer, SessionId};

use super::directory::SessionDir;
use crate::tree::session::Session;
use crate::tree::store::{AgentSessions, SessionStore, SessionStoreError};

/// How many saves of different sessions can run at once.
const TURNS: usize = 16;

/// Stores each session in `{dir}/{session_id}.json`: pretty-printed JSON, written atomically, readable only by the
/// user.
///
/// Saves of one session through one store and its clones wait for each other. A save fails with
/// [`SessionStoreError::Locked`] while another store or process is saving. Needs a tokio runtime.
#[derive(Debug, Clone)]
pub struct FileSessionStore {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    dir: SessionDir,
    turns: [Mutex<()>; TURNS],
    swept: Once,
}

impl FileSessionStore {
    /// A store in the directory `dir`, which is created when needed.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self::with(SessionDir::new(dir))
    }

    /// A store with another limit for the size of a file.
    pub fn with_file_bytes_max(dir: impl Into<PathBuf>, file_bytes_max: u64) -> Self {
        Self::with(SessionDir { bytes_max: file_bytes_max, ..SessionDir::new(dir) })
    }

    fn with(dir: SessionDir) -> Self {
        Self { shared: Arc::new(Shared { dir, turns: Default::default(), swept: Once::new() }) }
    }

    /// Runs `work` on a blocking thread.
    fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> Result<T, SessionStoreError> + Send + 'static,
    ) -> Answer<'static, Result<T, SessionStoreError>> {
        let shared = Arc::clone(&self.shared);
        Answer::later(async move {
            let done = tokio::task::spawn_blocking(move || work(&shared)).await;
            done.unwrap_or(Err(SessionStoreError::Cancelled))
        })
    }
}

impl Shared {
    /// Runs `work` after other work of this store on the session.
    fn in_turn<T>(&self, id: &SessionId, work: impl FnOnce(&SessionDir) -> T) -> T {
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        let turn = self.turns.get(hasher.finish() as usize % TURNS);
        let _turn = turn.map(|turn| turn.lock().unwrap_or_else(PoisonError::into_inner));
        work(&self.dir)
    }
}

impl SessionStore for FileSessionStore {
    fn save_session<'a>(&'a self, session: &'a Session) -> Answer<'a, Result<(), SessionStoreError>> {
        let session = session.clone();
        self.blocking(move |shared| {
            // A failed cleanup must not prevent saving.
            shared.swept.call_once(|| shared.dir.sweep().unwrap_or_default());
            shared.in_turn(&session.session_id, |dir| dir.save(&session))
        })
    }

    fn load_session<'a>(&'a self, id: &'a SessionId) -> Answer<'a, Result<Session, SessionStoreError>> {
        let id = id.clone();
        self.blocking(move |shared| shared.dir.load(&id))
    }

    fn list_session_ids(&self) -> Answer<'_, Result<Vec<SessionId>, SessionStoreError>> {
        self.blocking(|shared| shared.dir.list())
    }

    fn load_sessions_for_agent<'a>(
        &'a self,
        agent_id: &'a AgentId,
    ) -> Answer<'a, Result<AgentSessions, SessionStoreError>> {
        let agent_id = agent_id.clone();
        self.blocking(move |shared| shared.dir.load_for_agent(&agent_id))
    }

    fn delete_session<'a>(&'a self, id: &'a SessionId) -> Answer<'a, Result<(), SessionStoreError>> {
        let id = id.clone();
        self.blocking(move |shared| shared.in_turn(&id, |dir| dir.delete(&id)))
    }
}

#[cfg(test)]
#[path = "file_store_tests.rs"]
mod tests;
