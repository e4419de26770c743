//! `Claims`: which run is changing which file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rheon_types::Clock;

/// The file claims of all agents in a workspace, by canonical path.
///
/// A claim ends when its guard is dropped or when its time to live is over.
#[derive(Clone)]
pub struct Claims {
    board: Arc<Mutex<Board>>,
    clock: Arc<dyn Clock>,
}

#[derive(Default)]
struct Board {
    entries: HashMap<PathBuf, Entry>,
    next_ticket: u64,
}

struct Entry {
    owner: Arc<str>,
    /// The open claims of this owner and when each expires.
    tickets: HashMap<u64, Duration>,
}

#[must_use = "a claim ends when it is dropped"]
pub struct FileClaim {
    claims: Claims,
    path: PathBuf,
    ticket: u64,
}

/// Another run is changing the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{path} is being changed by {owner} for up to {remaining_s} s; work on something else, then read it again"
)]
pub struct ClaimConflict {
    pub path: String,
    pub owner: Arc<str>,
    /// Seconds until the claim expires.
    pub remaining_s: u64,
}

impl Claims {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { board: Arc::default(), clock }
    }

    /// Claims the file at `path` (canonical) for `owner`. One owner may hold several claims on a file.
    pub fn claim(&self, path: &Path, owner: &str, ttl: Duration) -> Result<FileClaim, ClaimConflict> {
        let now = self.clock.elapsed();
        let mut board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        board.forget_expired(now);
        let ticket = board.next_ticket;
        let entry = board
            .entries
            .entry(path.to_owned())
            .or_insert_with(|| Entry { owner: owner.into(), tickets: HashMap::new() });
        if *entry.owner != *owner {
            let end = entry.tickets.values().max().copied().unwrap_or(now);
            return Err(ClaimConflict {
                path: path.display().to_string(),
                owner: Arc::clone(&entry.owner),
                remaining_s: end.saturating_sub(now).as_secs(),
            });
        }
        entry.tickets.insert(ticket, now.saturating_add(ttl));
        board.next_ticket += 1;
        Ok(FileClaim { claims: self.clone(), path: path.to_owned(), ticket })
    }

    /// The owner of the file at `path`, if it is claimed.
    pub fn holder(&self, path: &Path) -> Option<Arc<str>> {
        let mut board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        board.forget_expired(self.clock.elapsed());
        board.entries.get(path).map(|entry| Arc::clone(&entry.owner))
    }
}

impl Board {
    fn forget_expired(&mut self, now: Duration) {
        self.entries.retain(|_, entry| {
            entry.tickets.retain(|_, end| *end > now);
            !entry.tickets.is_empty()
        });
    }
}

impl FileClaim {
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for FileClaim {
    fn drop(&mut self) {
        let mut board = self.claims.board.lock().unwrap_or_else(PoisonError::into_inner);
        // After a claim expired another owner may hold the file; the ticket tells the claims apart.
        if let Some(entry) = board.entries.get_mut(&self.path) {
            entry.tickets.remove(&self.ticket);
            if entry.tickets.is_empty() {
                board.entries.remove(&self.path);
            }
        }
    }
}
