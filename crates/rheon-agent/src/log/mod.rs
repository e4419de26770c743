//! `EventLog`: the one way out for what happens. Numbers events, keeps the durable ones, shows all of them.

mod observers;
mod queue;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_types::{AgentEvent, Clock, Event, LoopId, SessionId, Store, StoreError};

pub use observers::{EventSubscription, Observers, RecvError};
pub(crate) use queue::EventQueue;

/// The log of one session. Clones share it.
///
/// Events are numbered, stored and shown under one lock, so every observer sees them in the order of the log.
#[derive(Clone)]
pub struct EventLog {
    inner: Arc<Inner>,
}

struct Inner {
    session_id: SessionId,
    clock: Arc<dyn Clock>,
    store: Option<Arc<dyn Store>>,
    observers: Observers,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    seq: u64,
    seq_stored: u64,
    /// Set by the first write that failed; from then on events are only shown.
    failure: Option<StoreError>,
    #[cfg(debug_assertions)]
    order: rheon_types::event::OrderChecker,
}

impl EventLog {
    /// The log of a new session.
    pub fn new(
        session_id: SessionId,
        clock: Arc<dyn Clock>,
        store: Option<Arc<dyn Store>>,
        observers: Observers,
    ) -> Self {
        let state = Mutex::new(State::default());
        Self { inner: Arc::new(Inner { session_id, clock, store, observers, state }) }
    }

    /// The session this is the log of.
    pub fn session_id(&self) -> &SessionId {
        &self.inner.session_id
    }

    /// The number of the last durable event.
    pub fn seq(&self) -> u64 {
        self.lock().seq
    }

    /// Whether a store keeps this log.
    pub(crate) fn is_stored(&self) -> bool {
        self.inner.store.is_some()
    }

    /// Tries the store again if it failed before: events that were only shown meanwhile get their numbers back.
    pub(crate) fn recover(&self) {
        let mut state = self.lock();
        if state.failure.take().is_some() {
            state.seq = state.seq_stored;
            #[cfg(debug_assertions)]
            {
                state.order = rheon_types::event::OrderChecker::new();
            }
        }
    }

    /// Appends an event. It is shown even if it cannot be stored; [`Self::sync`] tells.
    pub(crate) fn emit(&self, loop_id: &LoopId, queue: Option<&EventQueue>, kind: AgentEvent) {
        let durable = kind.is_durable();
        if !durable && queue.is_none() && !self.inner.observers.any() {
            return;
        }
        let at = self.inner.clock.now();
        let mut state = self.lock();
        state.seq += u64::from(durable);
        let (session_id, loop_id) = (self.inner.session_id.clone(), loop_id.clone());
        let event = Event { seq: state.seq, at, session_id, loop_id, kind };
        if durable {
            self.keep(&mut state, &event);
        }
        #[cfg(debug_assertions)]
        if let Err(violation) = state.order.observe(&event) {
            // A second panic while unwinding would hide the first.
            debug_assert!(std::thread::panicking(), "{violation}");
        }
        self.inner.observers.show(event, queue);
    }

    /// Waits until all that was appended is safe; tells if anything could not be stored.
    pub(crate) async fn sync(&self) -> Result<(), StoreError> {
        if let Some(failure) = self.failure() {
            return Err(failure);
        }
        let Some(store) = &self.inner.store else { return Ok(()) };
        let outcome = store.sync().get().await;
        if let Err(failure) = &outcome {
            self.lock().failure = Some(failure.clone());
        }
        outcome
    }

    /// The write that failed, if one did.
    pub(crate) fn failure(&self) -> Option<StoreError> {
        self.lock().failure.clone()
    }

    fn keep(&self, state: &mut State, event: &Event) {
        let Some(store) = &self.inner.store else { return };
        if state.failure.is_some() {
            return;
        }
        match store.append(event) {
            Ok(()) => state.seq_stored = event.seq,
            Err(failure) => state.failure = Some(failure),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod order_tests;
