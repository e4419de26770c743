//! `PersistentStore`: the journals, and what becomes of a session that they cannot take.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_store::sessions::JournalStore;
use rheon_types::{Answer, Event, SessionId, Store, StoreError};

use super::notice::SessionNotice;
use super::notice_sink::SessionNoticeSink;
use super::settings::OnStorageFailure;

/// Saves events in journals. If that fails, the run stops or continues in memory, depending on the settings.
pub(super) struct PersistentStore {
    journals: Arc<JournalStore>,
    on_failure: OnStorageFailure,
    tell: SessionNoticeSink,
    /// Sessions with unsaved events, and these events: slow subscribers still get them. Nothing more of such a session
    /// is saved, because a log has no gaps.
    given_up: Mutex<HashMap<SessionId, Vec<Arc<Event>>>>,
    last: Mutex<Option<SessionId>>,
    /// Facts of a new session before its first run: without a run there is no need for a file.
    early: Mutex<Option<Vec<Arc<Event>>>>,
}

/// A failed write, and the events that are not in the journal because of it.
struct Unwritten {
    error: StoreError,
    events: Vec<Arc<Event>>,
}

/// Whether a session has anything in its journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    New,
    Resumed,
}

impl PersistentStore {
    pub(super) fn new(
        journals: Arc<JournalStore>,
        on_failure: OnStorageFailure,
        tell: SessionNoticeSink,
        standing: Standing,
    ) -> Self {
        let early = match standing {
            Standing::New => Some(Vec::new()),
            Standing::Resumed => None,
        };
        let (given_up, last, early) = (Mutex::default(), Mutex::default(), Mutex::new(early));
        Self { journals, on_failure, tell, given_up, last, early }
    }

    /// Writes an event. Facts are buffered until the first run; then they are written first.
    fn write(&self, event: &Event) -> Result<(), Unwritten> {
        let unwritten = |error, events| Unwritten { error, events };
        let mut early = self.early();
        match (&mut *early, &event.run_id) {
            (None, _) => {
                // Nothing is held back any more, so the lock is not needed.
                drop(early);
                self.journals.append(event).map_err(|error| unwritten(error, vec![Arc::new(event.clone())]))
            }
            (Some(held), None) => {
                held.push(Arc::new(event.clone()));
                Ok(())
            }
            // A reader of the facts held back waits until they are in the journal, so they are always in one of the two.
            (Some(held), Some(_)) => {
                let mut events = std::mem::take(held);
                events.push(Arc::new(event.clone()));
                for (index, event) in events.iter().enumerate() {
                    if let Err(error) = self.journals.append(event) {
                        events.drain(..index);
                        // A retry of the event writes the facts before it first.
                        *held = events.iter().take(events.len().saturating_sub(1)).cloned().collect();
                        return Err(unwritten(error, events));
                    }
                }
                *early = None;
                Ok(())
            }
        }
    }

    /// The events of a session after `after` that are not in its journal, at most `events_max`: facts that wait for something to be
    /// said, and all that came after the journal could not be written any more.
    pub(super) fn unsaved(&self, session_id: &SessionId, after: u64, events_max: usize) -> Vec<Arc<Event>> {
        let next = |events: &[Arc<Event>]| -> Vec<Arc<Event>> {
            let first = events.partition_point(|event| event.seq <= after);
            events.iter().skip(first).take(events_max).cloned().collect()
        };
        let given_up = self.given_up();
        if let Some(events) = given_up.get(session_id) {
            return next(events);
        }
        drop(given_up);
        let early = self.early();
        let of_session = |event: &&Arc<Event>| event.session_id == *session_id;
        let held: Vec<Arc<Event>> = early.iter().flatten().filter(of_session).cloned().collect();
        next(&held)
    }

    fn early(&self) -> MutexGuard<'_, Option<Vec<Arc<Event>>>> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_up(&self, session_id: &SessionId, unwritten: Unwritten) -> Result<(), StoreError> {
        let Unwritten { error, events } = unwritten;
        match self.on_failure {
            OnStorageFailure::Refuse => Err(error),
            OnStorageFailure::InMemory => {
                let is_first = {
                    let mut given_up = self.given_up();
                    let is_first = !given_up.contains_key(session_id);
                    given_up.entry(session_id.clone()).or_default().extend(events);
                    is_first
                };
                if is_first {
                    self.tell
                        .tell(SessionNotice::NotKept { session_id: session_id.clone(), why: error.message });
                }
                Ok(())
            }
        }
    }

    fn given_up(&self) -> MutexGuard<'_, HashMap<SessionId, Vec<Arc<Event>>>> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last(&self) -> MutexGuard<'_, Option<SessionId>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for PersistentStore {
    fn append(&self, event: &Event) -> Result<(), StoreError> {
        if let Some(unsaved) = self.given_up().get_mut(&event.session_id) {
            unsaved.push(Arc::new(event.clone()));
            return Ok(());
        }
        *self.last() = Some(event.session_id.clone());
        self.write(event).or_else(|unwritten| self.give_up(&event.session_id, unwritten))
    }

    fn sync(&self) -> Answer<'_, Result<(), StoreError>> {
        let Some(session_id) = self.last().clone() else { return Answer::Now(Ok(())) };
        if self.given_up().contains_key(&session_id) {
            return Answer::Now(Ok(()));
        }
        Answer::later(async move {
            match self.journals.sync().get().await {
                Ok(()) => Ok(()),
                // Written events can be read, even if they are not synced.
                Err(error) => self.give_up(&session_id, Unwritten { error, events: Vec::new() }),
            }
        })
    }
}

#[cfg(test)]
#[path = "persistent_store_tests.rs"]
mod tests;
