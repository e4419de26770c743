//! `KeptStore`: the journals, and what becomes of a session that they cannot take.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_store::sessions::JournalStore;
use rheon_types::{Answer, Event, SessionId, Store, StoreError};

use super::notice::Notice;
use super::settings::OnTrouble;
use super::tell::Tell;

/// Keeps events in journals. Where that fails, the run stops or goes on in memory, as the user said.
pub(super) struct KeptStore {
    journals: Arc<JournalStore>,
    on_trouble: OnTrouble,
    tell: Tell,
    /// Sessions with events that are not kept. Nothing more of them is, because a log has no gaps.
    given_up: Mutex<HashSet<SessionId>>,
    /// The session of the last event.
    last: Mutex<Option<SessionId>>,
}

impl KeptStore {
    pub(super) fn new(journals: Arc<JournalStore>, on_trouble: OnTrouble, tell: Tell) -> Self {
        Self { journals, on_trouble, tell, given_up: Mutex::default(), last: Mutex::default() }
    }

    fn give_up(&self, session_id: &SessionId, error: StoreError) -> Result<(), StoreError> {
        match self.on_trouble {
            OnTrouble::Refuse => Err(error),
            OnTrouble::InMemory => {
                if self.given_up().insert(session_id.clone()) {
                    self.tell.tell(Notice::NotKept { session_id: session_id.clone(), why: error.message });
                }
                Ok(())
            }
        }
    }

    fn given_up(&self) -> MutexGuard<'_, HashSet<SessionId>> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last(&self) -> MutexGuard<'_, Option<SessionId>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for KeptStore {
    fn append(&self, event: &Event) -> Result<(), StoreError> {
        if self.given_up().contains(&event.session_id) {
            return Ok(());
        }
        *self.last() = Some(event.session_id.clone());
        match self.journals.append(event) {
            Ok(()) => Ok(()),
            Err(error) => self.give_up(&event.session_id, error),
        }
    }

    fn sync(&self) -> Answer<'_, Result<(), StoreError>> {
        let Some(session_id) = self.last().clone() else { return Answer::Now(Ok(())) };
        if self.given_up().contains(&session_id) {
            return Answer::Now(Ok(()));
        }
        Answer::later(async move {
            match self.journals.sync().get().await {
                Ok(()) => Ok(()),
                Err(error) => self.give_up(&session_id, error),
            }
        })
    }
}
