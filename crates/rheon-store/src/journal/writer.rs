//! `Journal`: the one writer of a session's log.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_types::{Answer, Event, Store, StoreError};

use super::error::JournalError;
use super::file::{self, sync_folder};
use super::header::{JournalHeader, Lease};
use super::record::{Entry, encode};
use super::scan::{JournalScan, scan};
use crate::blobs::{Blobs, externalize};
use crate::dedup::Deduplicator;

/// The one writer of a session's log. While it lives, no other process writes to the journal.
pub struct Journal {
    path: PathBuf,
    file: Arc<File>,
    blobs: Arc<Blobs>,
    state: Mutex<State>,
}

struct State {
    deduplicator: Deduplicator,
    /// Kept from event to event, so that it is not made anew each time.
    line: Vec<u8>,
    seq: u64,
    fence: u64,
    /// How long the file is up to its last whole line.
    bytes: u64,
    /// How much of it a power cut cannot lose.
    synced_bytes: u64,
    /// Why nothing more can be written.
    broken: Option<StoreError>,
}

/// A journal that was opened, and what was done to it.
#[derive(Debug)]
pub struct OpenedJournal {
    /// What was in it.
    pub scan: JournalScan,
    /// Where the bytes are that were cut off, if any were.
    pub damaged_copy: Option<PathBuf>,
}

/// Where a journal ends when it is taken up.
struct End {
    /// The number of its last event.
    seq: u64,
    /// The fence of whoever writes from now on.
    fence: u64,
    /// How long it is.
    bytes: u64,
}

impl Journal {
    /// A new journal at `path`, which is either there with its first line or not at all.
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

    /// Opens the journal at `path` to write on. What is not whole at its end is cut off and kept aside; the events before it
    /// are shown to `visit`, as they are stored.
    pub(crate) fn open(
        path: &Path,
        lease: &Lease,
        blobs: Arc<Blobs>,
        visit: impl FnMut(super::scan::StoredEvent<'_>) -> Result<(), JournalError>,
    ) -> Result<(Self, OpenedJournal), JournalError> {
        let file = file::open_locked(path)?;
        file::secure(path)?;
        let scan = scan(path, &file, visit)?;
        let damaged_copy = match &scan.damage {
            Some(damage) => Some(file::cut(path, &file, damage)?),
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

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of the last event in it.
    pub fn seq(&self) -> u64 {
        self.state().seq
    }

    /// Appends one line, whole or not at all.
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
                // A part of the line may be in the file; whatever comes next must not stand behind it.
                if let Err(error) = self.file.set_len(state.bytes) {
                    let problem = format!("{} ends with half a line: {error}", self.path.display());
                    state.broken = Some(StoreError::new(problem));
                }
                Err(failed(source))
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets others write at once. Closing the file would not do: a process that is being started has it open until it runs.
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
            let problem =
                format!("event {} cannot follow event {} in {}", event.seq, state.seq, self.path.display());
            return Err(StoreError::new(problem));
        }
        let unwritable =
            |error: serde_json::Error| StoreError::new(format!("the event cannot be written: {error}"));
        let stored = state.deduplicator.dedup(event).map_err(unwritable)?;
        let folder = self.blobs.folder().display();
        let unkept = |error| StoreError::new(format!("cannot keep a large payload in {folder}: {error}"));
        let (json, blobs) = externalize(stored.json(), &self.blobs).map_err(unkept)?;
        let entry = Entry { fence: state.fence, blobs, event: Some(&json), ..Entry::default() };
        self.write(&mut state, &entry)?;
        state.deduplicator.keep(event);
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
                // What a line leans on is safe before the line is.
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
                    // After a sync that failed nobody knows what is on the disk; trying again would hide that.
                    let problem = format!("cannot sync {}: {error}", self.path.display());
                    let broken = StoreError::new(problem);
                    state.broken = Some(broken.clone());
                    Err(broken)
                }
            }
        })
    }
}

/// Makes a change of names safe: that of a journal which was made, renamed or removed.
pub(crate) fn sync_names(path: &Path) -> Result<(), JournalError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    sync_folder(folder).map_err(JournalError::io("sync", folder))
}

fn bytes_of(line: &[u8]) -> u64 {
    u64::try_from(line.len()).unwrap_or(u64::MAX)
}
