//! `MemorySessionStore`: sessions that live as long as the store.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rheon_types::{AgentId, Answer, SessionId};

use super::session::Session;
use super::store::{AgentSessions, SessionStore, SessionStoreError};
use crate::session_name::SessionName;

/// Stores sessions in memory, for tests and for runs that leave nothing behind. Ids follow the same rules as file
/// names.
#[derive(Debug, Default)]
pub struct MemorySessionStore {
    sessions: Mutex<BTreeMap<SessionName, Session>>,
}

impl MemorySessionStore {
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SessionName, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn save(&self, session: &Session) -> Result<(), SessionStoreError> {
        let name = SessionName::try_from(&session.session_id)?;
        self.lock().insert(name, session.clone());
        Ok(())
    }

    fn load(&self, id: &SessionId) -> Result<Session, SessionStoreError> {
        let name = SessionName::try_from(id)?;
        self.lock().get(&name).cloned().ok_or_else(|| SessionStoreError::Missing { id: id.clone() })
    }

    fn delete(&self, id: &SessionId) -> Result<(), SessionStoreError> {
        let name = SessionName::try_from(id)?;
        self.lock().remove(&name).map(drop).ok_or_else(|| SessionStoreError::Missing { id: id.clone() })
    }
}

impl SessionStore for MemorySessionStore {
    fn save_session<'a>(&'a self, session: &'a Session) -> Answer<'a, Result<(), SessionStoreError>> {
        Answer::Now(self.save(session))
    }

    fn load_session<'a>(&'a self, id: &'a SessionId) -> Answer<'a, Result<Session, SessionStoreError>> {
        Answer::Now(self.load(id))
    }

    fn list_session_ids(&self) -> Answer<'_, Result<Vec<SessionId>, SessionStoreError>> {
        Answer::Now(Ok(newest_first(&self.lock()).iter().map(|session| session.session_id.clone()).collect()))
    }

    fn load_sessions_for_agent<'a>(
        &'a self,
        agent_id: &'a AgentId,
    ) -> Answer<'a, Result<AgentSessions, SessionStoreError>> {
        let sessions = self.lock();
        let newest = newest_first(&sessions);
        let found = newest.into_iter().filter(|session| session.agent_id == *agent_id);
        Answer::Now(Ok(AgentSessions { sessions: found.cloned().collect(), broken: Vec::new() }))
    }

    fn delete_session<'a>(&'a self, id: &'a SessionId) -> Answer<'a, Result<(), SessionStoreError>> {
        Answer::Now(self.delete(id))
    }
}

fn newest_first(sessions: &BTreeMap<SessionName, Session>) -> Vec<&Session> {
    let mut newest: Vec<&Session> = sessions.values().collect();
    newest.sort_by_key(|session| Reverse((session.last_active_at, session.session_id.clone())));
    newest
}
