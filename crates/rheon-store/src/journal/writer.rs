//! `Journal`: the single writer of a session's log.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_types::{Answer, Event, Store, StoreError};

use super::error::{JournalError, NewerContent};
use super::file::{self, open_to_read, sync_dir};
use super::header::{JournalHeader, Lease};
use super::record::{Entry, JOURNAL_VERSION, encode};
use super::scan::{JournalScan, read_header, scan};
use crate::blobs::{Blobs, externalize};
use crate::dedup::Deduplicator;

/// The single writer of a session's log. While it exists, no other process can write to the journal.
pub struct Journal {
    path: PathBuf,
    file: Arc<File>,
    blobs: Arc<Blobs>,
    state: Mutex<State>,
}

struct State {
    deduplicator: Deduplicator,
    /// Reused for every event, to avoid an allocation per event.
    line: Vec<u8>,
    seq: u64,
    fence: u64,
    /// The length of the file up to its last complete line.
    bytes: u64,
    /// How much of it is synced to disk.
    synced_bytes: u64,
    /// Set when the journal can no longer be written.
    broken: Option<StoreError>,
}

/// The result of opening a journal for writing.
#[derive(Debug)]
pub struct OpenedJournal {
    pub scan: JournalScan,
    /// The copy of the damaged end that was cut off, if there was one.
    pub damaged_copy: Option<PathBuf>,
}

/// The end of a journal at the time it is opened.
struct End {
    seq: u64,
    /// The fence of the new writer.
    fence: u64,
    bytes: u64,
}

impl Journal {
    /// Creates a journal at `path` together with its first line, atomically.
    pub fn create(
        path: &Path,
        header: &JournalHeader,
        lease: &Lease,
        blobs: Arc<Blobs>,
    ) -> Result<Self, JournalError> {
        let mut line = Vec::new();
        let fence = 1;
        let unwritable = |error: serde_json::Error| JournalError::Io {
            action: "write",
            path: path.to_owned(),
            source: error.into(),
        };
        encode(&Entry { fence, header: Some(header), ..Entry::default() }, &mut line).map_err(unwritable)?;
        encode(&Entry { fence, lease: Some(lease), ..Entry::default() }, &mut line).map_err(unwritable)?;
        let file = file::create(path, &line)?;
        let seq = header.parent.as_ref().map_or(0, |parent| parent.seq);
        Ok(Self::new(path, file, blobs, End { seq, fence, bytes: bytes_of(&line) }))
    }

    /// Opens the journal at `path` for writing. A damaged end is copied to another file and cut off. The intact
    /// events are passed to `visit` as stored. What a later version wrote is not opened.
    pub(crate) fn open(
        path: &Path,
        lease: &Lease,
        blobs: Arc<Blobs>,
        visit: impl FnMut(super::scan::StoredEvent<'_>) -> Result<(), JournalError>,
    ) -> Result<(Self, OpenedJournal), JournalError> {
        let file = file::open_locked(path)?;
        file::secure(path)?;
        // Before the rest is judged: what looks like damage may be a later format.
        let newer = |what| JournalError::Newer { path: path.to_owned(), what };
        let header = read_header(path, &open_to_read(path)?)?;
        if header.version > JOURNAL_VERSION {
            return Err(newer(NewerContent::Format(header.version)));
        }
        let scan = scan(path, &file, visit)?;
        if scan.unknown > 0 {
            return Err(newer(NewerContent::Lines(scan.unknown)));
        }
        let damaged_copy = match &scan.damage {
            Some(damage) => Some(file::cut_damage(path, &file, damage)?),
            None => None,
        };
        let fence = scan.fence + 1;
        let journal = Self::new(path, file, blobs, End { seq: scan.seq, fence, bytes: scan.bytes });
        journal.write(&mut journal.state(), &Entry { fence, lease: Some(lease), ..Entry::default() })?;
        Ok((journal, OpenedJournal { scan, damaged_copy }))
    }

    fn new(path: &Path, file: File, blobs: Arc<Blobs>, end: End) -> Self {
        let End { seq, fence, bytes } = end;
        let state = State {
            deduplicator: Deduplicator::new(),
            line: Vec::new(),
            seq,
            fence,
            bytes,
            synced_bytes: 0,
            broken: None,
        };
        Self { path: path.to_owned(), file: Arc::new(file), blobs, state: Mutex::new(state) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of the last event.
    pub fn seq(&self) -> u64 {
        self.state().seq
    }

    /// Appends one line completely or not at all.
    fn write(&self, state: &mut State, entry: &Entry<'_>) -> Result<(), JournalError> {
        let failed = |source| JournalError::Io { action: "write to", path: self.path.clone(), source };
        state.line.clear();
        encode(entry, &mut state.line).map_err(|error| failed(error.into()))?;
        match (&*self.file).write_all(&state.line) {
            Ok(()) => {
                state.bytes += bytes_of(&state.line);
                Ok(())
            }
            Err(source) => {
                // Part of the line may have been written. Remove it, so that the next line does not follow half a
                // line.
                if let Err(error) = self.file.set_len(state.bytes) {
                    let problem = format!("{} ends with an incomplete line: {error}", self.path.display());
                    state.broken = Some(StoreError::new(problem));
                }
                Err(failed(source))
            }
        }
    }

    /// Syncs on this thread.
    pub(crate) fn sync_now(&self) -> Result<(), StoreError> {
        let mut state = self.state();
        if let Some(broken) = &state.broken {
            return Err(broken.clone());
        }
        let synced = self.blobs.sync().and_then(|()| self.file.sync_data());
        match synced {
            Ok(()) => {
                state.synced_bytes = state.bytes;
                Ok(())
            }
            Err(error) => {
                let broken = StoreError::new(format!("cannot sync {}: {error}", self.path.display()));
                state.broken = Some(broken.clone());
                Err(broken)
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Unlocks explicitly. Closing the file is not enough: a child process that is being spawned holds it open until its
/// `exec`.
impl Drop for Journal {
    fn drop(&mut self) {
        file::unlock(&self.file);
    }
}

impl Store for Journal {
    fn append(&self, event: &Event) -> Result<(), StoreError> {
        let mut state = self.state();
        if let Some(broken) = &state.broken {
            return Err(broken.clone());
        }
        if event.seq != state.seq + 1 {
            let problem = format!(
                "cannot append event {} after event {} in {}",
                event.seq,
                state.seq,
                self.path.display()
            );
            return Err(StoreError::new(problem));
        }
        let unwritable =
            |error: serde_json::Error| StoreError::new(format!("cannot serialize the event: {error}"));
        let stored = state.deduplicator.dedup(event).map_err(unwritable)?;
        let dir = self.blobs.dir().display();
        let unstored = |error| StoreError::new(format!("cannot store a large payload in {dir}: {error}"));
        let (json, blobs) = externalize(stored.json(), &self.blobs).map_err(unstored)?;
        let entry = Entry { fence: state.fence, blobs, event: Some(&json), ..Entry::default() };
        self.write(&mut state, &entry)?;
        state.deduplicator.observe(event);
        state.seq = event.seq;
        Ok(())
    }

    fn sync(&self) -> Answer<'_, Result<(), StoreError>> {
        let bytes = {
            let state = self.state();
            if let Some(broken) = &state.broken {
                return Answer::Now(Err(broken.clone()));
            }
            if state.synced_bytes >= state.bytes {
                return Answer::Now(Ok(()));
            }
            state.bytes
        };
        Answer::later(async move {
            let (file, blobs) = (Arc::clone(&self.file), Arc::clone(&self.blobs));
            let synced = tokio::task::spawn_blocking(move || {
                // Sync payloads before the lines that refer to them.
                blobs.sync()?;
                file.sync_data()
            });
            let outcome = match synced.await {
                Ok(outcome) => outcome,
                Err(error) => Err(std::io::Error::other(error)),
            };
            let mut state = self.state();
            match outcome {
                Ok(()) => {
                    state.synced_bytes = state.synced_bytes.max(bytes);
                    Ok(())
                }
                Err(error) => {
                    // After a failed sync the state of the disk is unknown, and a retry would report success.
                    let problem = format!("cannot sync {}: {error}", self.path.display());
                    let broken = StoreError::new(problem);
                    state.broken = Some(broken.clone());
                    Err(broken)
                }
            }
        })
    }
}

/// Syncs the directory of a journal that was created, renamed or removed.
pub(crate) fn sync_names(path: &Path) -> Result<(), JournalError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    sync_dir(dir).map_err(JournalError::io("sync", dir))
}

fn bytes_of(line: &[u8]) -> u64 {
    u64::try_from(line.len()).unwrap_or(u64::MAX)
}
