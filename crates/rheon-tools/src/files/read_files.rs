//! `ReadFiles`: the files one session has read.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::files::fingerprint::Fingerprint;

/// The most files tracked. A file that drops out has to be read again before it is changed.
const FILES_MAX: usize = 10_000;

/// The files one session has read, by canonical path.
#[derive(Debug, Default)]
pub struct ReadFiles {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    seen: HashMap<PathBuf, (Fingerprint, u64)>,
    order: BTreeMap<u64, PathBuf>,
    next: u64,
}

/// Why a file must not be changed yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Staleness {
    NeverRead,
    Changed,
}

impl ReadFiles {
    /// Records that the session has seen this state of the file at `path` (canonical).
    pub fn record(&self, path: &Path, fingerprint: Fingerprint) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let number = state.next;
        state.next += 1;
        if let Some((_, old)) = state.seen.insert(path.to_owned(), (fingerprint, number)) {
            state.order.remove(&old);
        }
        state.order.insert(number, path.to_owned());
        if state.seen.len() > FILES_MAX
            && let Some((_, oldest)) = state.order.pop_first()
        {
            state.seen.remove(&oldest);
        }
    }

    /// Whether the session has seen the `current` state of the file at `path`.
    pub fn check(&self, path: &Path, current: &Fingerprint) -> Result<(), Staleness> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, _) = state.seen.get(path).ok_or(Staleness::NeverRead)?;
        if known.is_same_content(current) { Ok(()) } else { Err(Staleness::Changed) }
    }

    pub fn count(&self) -> usize {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).seen.len()
    }
}
