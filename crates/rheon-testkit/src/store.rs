//! An in-memory store that can be made to fail.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rheon_types::{Answer, Event, Store, StoreError};

/// Stores events in memory.
#[derive(Default)]
pub struct InMemoryStore {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    events: Vec<Event>,
    syncs: usize,
    /// How many more appends succeed; unlimited if absent.
    append_limit: Option<usize>,
    fail_syncs: bool,
}

impl InMemoryStore {
    /// A store that accepts `appends` events and then fails, until the limit is raised.
    pub fn with_append_limit(appends: usize) -> Self {
        let store = Self::default();
        store.lock().append_limit = Some(appends);
        store
    }

    /// Sets how many more events are accepted; `None` for any number.
    pub fn set_append_limit(&self, append_limit: Option<usize>) {
        self.lock().append_limit = append_limit;
    }

    /// Makes every sync fail, or succeed again.
    pub fn fail_syncs(&self, fail: bool) {
        self.lock().fail_syncs = fail;
    }

    /// The stored events.
    pub fn events(&self) -> Vec<Event> {
        self.lock().events.clone()
    }

    /// How often it was synced.
    pub fn syncs(&self) -> usize {
        self.lock().syncs
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for InMemoryStore {
    fn append(&self, event: &Event) -> Result<(), StoreError> {
        let mut state = self.lock();
        match &mut state.append_limit {
            Some(0) => return Err(StoreError::new("no space left in the test store")),
            Some(append_limit) => *append_limit -= 1,
            None => {}
        }
        state.events.push(event.clone());
        Ok(())
    }

    fn sync(&self) -> Answer<'_, Result<(), StoreError>> {
        let mut state = self.lock();
        state.syncs += 1;
        if state.fail_syncs {
            return Answer::Now(Err(StoreError::new("the test store cannot sync")));
        }
        Answer::Now(Ok(()))
    }
}
