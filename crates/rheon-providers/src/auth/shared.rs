//! `Shared`: a value that is costly to get, kept until it is stale or forgotten. Callers that want it at the same time
//! share one attempt, and its failure.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::AuthError;

/// A value that is costly to get.
pub(crate) struct Shared<T> {
    state: Mutex<State<T>>,
    /// Held by whoever gets the value; the others wait for it.
    turn: tokio::sync::Mutex<()>,
}

struct State<T> {
    value: Option<T>,
    /// The value before this one: an answer to an older request may still quote it.
    previous: Option<T>,
    /// How many attempts have ended.
    attempts: u64,
    /// How the last attempt failed, if it did.
    failure: Option<AuthError>,
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        let state = State { value: None, previous: None, attempts: 0, failure: None };
        Self { state: Mutex::new(state), turn: tokio::sync::Mutex::new(()) }
    }
}

impl<T: Clone> Shared<T> {
    /// The kept value if it is fresh, else what `get` gives. Callers that wait while another one gets it take the
    /// outcome of that attempt, success or failure; an attempt whose caller went away counts for nothing.
    pub(crate) async fn get_or<F>(&self, is_fresh: impl Fn(&T) -> bool, get: F) -> Result<T, AuthError>
    where
        F: AsyncFnOnce() -> Result<T, AuthError>,
    {
        let seen = {
            let state = self.lock();
            if let Some(value) = state.value.as_ref().filter(|value| is_fresh(value)) {
                return Ok(value.clone());
            }
            state.attempts
        };
        let _turn = self.turn.lock().await;
        {
            let state = self.lock();
            if let Some(value) = state.value.as_ref().filter(|value| is_fresh(value)) {
                return Ok(value.clone());
            }
            if let Some(failure) = state.failure.as_ref().filter(|_| state.attempts > seen) {
                return Err(failure.clone());
            }
        }
        let outcome = get().await;
        let mut state = self.lock();
        state.attempts = state.attempts.wrapping_add(1);
        match &outcome {
            Ok(value) => {
                state.failure = None;
                let replaced = state.value.replace(value.clone());
                state.previous = replaced.or(state.previous.take());
            }
            Err(failure) => state.failure = Some(failure.clone()),
        }
        outcome
    }

    /// Forgets the value. Whether there was one.
    pub(crate) fn forget(&self) -> bool {
        let mut state = self.lock();
        match state.value.take() {
            Some(value) => {
                state.previous = Some(value);
                true
            }
            None => false,
        }
    }

    /// The value that is kept and the one before it.
    pub(crate) fn known(&self) -> Vec<T> {
        let state = self.lock();
        state.value.iter().chain(&state.previous).cloned().collect()
    }

    /// The state is whole after every change, so a panic elsewhere does not spoil it.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
