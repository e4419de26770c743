//! `JournalStore`: the store of a program: each session that it runs has its journal.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_types::{Answer, Event, SessionId, Store, StoreError};

use super::error::SessionError;
use super::library::Sessions;
use crate::SessionName;
use crate::fold::{Doubt, SessionState};
use crate::journal::{Journal, Lease, Opened};

/// Keeps the events of any number of sessions, each in its journal, which is made when the first of them comes.
pub struct JournalStore {
    sessions: Sessions,
    project: Option<PathBuf>,
    lease: Lease,
    journals: Mutex<HashMap<SessionId, Arc<Journal>>>,
}

/// A session to go on with.
#[derive(Debug)]
pub struct Resumed {
    /// Where it stands, with everything closed that was open.
    pub state: SessionState,
    /// What was found in the journal, and what was done to it.
    pub opened: Opened,
    /// Tool calls whose end is not known. The model is told of them; the user should be, too.
    pub doubts: Vec<Doubt>,
}

impl JournalStore {
    /// A store in `sessions` for sessions that work in `project`. `lease` says who writes.
    pub fn new(sessions: Sessions, project: Option<PathBuf>, lease: Lease) -> Self {
        Self { sessions, project, lease, journals: Mutex::default() }
    }

    /// The sessions.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// Opens a session to go on with it. Runs that ended without saying so are closed in the journal.
    pub async fn resume(&self, name: &SessionName) -> Result<Resumed, ResumeError> {
        let mut state = SessionState::new();
        let (journal, opened) = self.sessions.open(name, &self.lease, |event| state.apply(&event))?;
        let doubts = state.doubts();
        // A session that goes on from another has no event of its own yet.
        state.session_id = Some(name.session_id());
        for event in state.closing_events(self.lease.at) {
            journal.append(&event)?;
            state.apply(&event);
        }
        journal.sync().get().await?;
        self.journals().insert(name.session_id(), Arc::new(journal));
        Ok(Resumed { state, opened, doubts })
    }

    /// A new session that goes on from event `seq` of `name`, ready to be gone on with.
    pub async fn fork(&self, name: &SessionName, seq: u64, to: &SessionId) -> Result<Resumed, ResumeError> {
        drop(self.sessions.fork(name, seq, to, &self.lease)?);
        self.resume(&SessionName::try_from(to).map_err(SessionError::from)?).await
    }

    /// The number of the last event of a session that this store writes to; 0 if it does not.
    pub fn last_seq(&self, session_id: &SessionId) -> u64 {
        self.journals().get(session_id).map_or(0, |journal| journal.seq())
    }

    /// Lets go of a session, so that others may write to it.
    pub fn close(&self, session_id: &SessionId) {
        self.journals().remove(session_id);
    }

    fn journal(&self, session_id: &SessionId) -> Result<Arc<Journal>, StoreError> {
        let mut journals = self.journals();
        if let Some(journal) = journals.get(session_id) {
            return Ok(Arc::clone(journal));
        }
        let made = self.sessions.create(session_id, self.project.as_deref(), &self.lease);
        let journal = Arc::new(made?);
        journals.insert(session_id.clone(), Arc::clone(&journal));
        Ok(journal)
    }

    fn journals(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Journal>>> {
        self.journals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a session cannot be gone on with.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// It cannot be opened.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// It cannot be written to.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Store for JournalStore {
    fn append(&self, event: &Event) -> Result<(), StoreError> {
        self.journal(&event.session_id)?.append(event)
    }

    fn sync(&self) -> Answer<'_, Result<(), StoreError>> {
        let journals: Vec<Arc<Journal>> = self.journals().values().cloned().collect();
        Answer::later(async move {
            for journal in journals {
                journal.sync().get().await?;
            }
            Ok(())
        })
    }
}
