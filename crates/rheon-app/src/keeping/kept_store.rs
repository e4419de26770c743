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
    /// Facts of a new session in which nothing was said yet: without a run they are not worth a file.
    early: Mutex<Option<Vec<Event>>>,
}

/// Whether a session has anything in its journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing yet.
    New,
    /// What happened before.
    Resumed,
}

impl KeptStore {
    pub(super) fn new(
        journals: Arc<JournalStore>,
        on_trouble: OnTrouble,
        tell: Tell,
        standing: Standing,
    ) -> Self {
        let early = match standing {
            Standing::New => Some(Vec::new()),
            Standing::Resumed => None,
        };
        let (given_up, last, early) = (Mutex::default(), Mutex::default(), Mutex::new(early));
        Self { journals, on_trouble, tell, given_up, last, early }
    }

    /// Writes an event. A fact is held back until something is said; then it is written first.
    fn write(&self, event: &Event) -> Result<(), StoreError> {
        let mut early = self.early();
        match (&mut *early, &event.run_id) {
            (None, _) => {
                // Nothing is held back any more, so nobody has to wait.
                drop(early);
                self.journals.append(event)
            }
            (Some(held), None) => {
                held.push(event.clone());
                Ok(())
            }
            // A reader of the facts held back waits until they are in the journal, so they are always in one of the two.
            (Some(held), Some(_)) => {
                let held = std::mem::take(held);
                let written = held.iter().chain([event]).try_for_each(|event| self.journals.append(event));
                *early = None;
                written
            }
        }
    }

    /// The facts that wait for something to be said.
    pub(super) fn held_back(&self) -> Vec<Event> {
        self.early().clone().unwrap_or_default()
    }

    fn early(&self) -> MutexGuard<'_, Option<Vec<Event>>> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.write(event).or_else(|error| self.give_up(&event.session_id, error))
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
