//! `CachedCredential`: an expensive value, cached until it is stale or forgotten. Concurrent callers share one attempt
//! and its failure.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::AuthError;

pub(crate) struct CachedCredential<T> {
    state: Mutex<State<T>>,
    /// Held by the caller that fetches the value; the others wait for it.
    turn: tokio::sync::Mutex<()>,
}

struct State<T> {
    value: Option<T>,
    /// The previous value: the response to an older request may still quote it.
    previous: Option<T>,
    /// How many attempts have finished.
    attempts: u64,
    /// The failure of the last attempt.
    failure: Option<AuthError>,
}

impl<T> Default for CachedCredential<T> {
    fn default() -> Self {
        let state = State { value: None, previous: None, attempts: 0, failure: None };
        Self { state: Mutex::new(state), turn: tokio::sync::Mutex::new(()) }
    }
}

impl<T: Clone> CachedCredential<T> {
    /// The cached value if it is fresh, otherwise the result of `get`. Callers that wait for another caller's attempt
    /// take its outcome, success or failure; an attempt whose caller was dropped does not count.
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

    /// Forgets the value. Returns whether there was one.
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

    /// The cached value and the previous one.
    pub(crate) fn known(&self) -> Vec<T> {
        let state = self.lock();
        state.value.iter().chain(&state.previous).cloned().collect()
    }

    /// The state is consistent after every change, so a panic elsewhere does not corrupt it.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
