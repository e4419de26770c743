//! `FileCache`: file contents, shared between agents.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rheon_types::Timestamp;

use crate::files::fingerprint::{Fingerprint, Stamp};

/// The most bytes of content in the cache.
pub const CACHE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The overhead counted per entry, so that many empty files are bounded too.
const ENTRY_BYTES: usize = 256;

/// File contents by canonical path and stamp.
///
/// An entry is returned only to a caller that has just read the file's stamp, and only if that stamp equals the one the
/// content was read with. So entries never expire and need no invalidation: every change shows in the stamp. Content
/// read too soon after a change, when another change could leave the same stamp, is not cached.
#[derive(Debug)]
pub struct FileCache {
    bytes_max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<PathBuf, Entry>,
    /// Paths ordered by last use.
    order: BTreeMap<u64, PathBuf>,
    next: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    content: Arc<[u8]>,
    fingerprint: Fingerprint,
    used: u64,
}

impl Default for FileCache {
    fn default() -> Self {
        Self::new(CACHE_BYTES_MAX)
    }
}

impl FileCache {
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes_max, state: Mutex::default() }
    }

    /// The content of the file at `path` if it was cached with `stamp`, which must be the file's current stamp.
    pub fn get(&self, path: &Path, stamp: &Stamp) -> Option<(Arc<[u8]>, Fingerprint)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = state.entries.get(path)?.fingerprint.stamp() == stamp;
        if !is_current {
            state.remove(path);
            return None;
        }
        let now = state.tick();
        let entry = state.entries.get_mut(path)?;
        let last_used = std::mem::replace(&mut entry.used, now);
        let hit = (Arc::clone(&entry.content), entry.fingerprint);
        state.order.remove(&last_used);
        state.order.insert(now, path.to_owned());
        Some(hit)
    }

    /// Caches `content`, read at `now`, unless it is too large or too recent.
    pub fn put(&self, path: &Path, content: &Arc<[u8]>, fingerprint: Fingerprint, now: Timestamp) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.remove(path);
        // One file must not evict all others.
        if cost(content) > self.bytes_max / 4 || !fingerprint.stamp().is_settled(now) {
            return;
        }
        let used = state.tick();
        state.bytes += cost(content);
        state.order.insert(used, path.to_owned());
        state.entries.insert(path.to_owned(), Entry { content: Arc::clone(content), fingerprint, used });
        while state.bytes > self.bytes_max
            && let Some((_, oldest)) = state.order.pop_first()
        {
            state.remove(&oldest);
        }
    }

    pub fn bytes(&self) -> usize {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }
}

impl State {
    fn tick(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn remove(&mut self, path: &Path) {
        if let Some(entry) = self.entries.remove(path) {
            self.order.remove(&entry.used);
            self.bytes = self.bytes.saturating_sub(cost(&entry.content));
        }
    }
}

fn cost(content: &[u8]) -> usize {
    content.len().saturating_add(ENTRY_BYTES)
}
