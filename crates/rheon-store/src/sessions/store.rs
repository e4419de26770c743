//! `JournalStore`: the store of a program, with one journal per session.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_types::{AgentEvent, Answer, Event, RunId, SessionId, Store, StoreError, ToolEvent, TurnEvent};

use super::error::SessionFileError;
use super::session_files::SessionFiles;
use crate::SessionName;
use crate::fold::{SessionState, UnfinishedCall};
use crate::journal::{Journal, Lease, OpenedJournal};
use crate::truncate::TruncationReport;

/// Stores the events of any number of sessions, each in a journal that is created with its first event.
pub struct JournalStore {
    sessions: SessionFiles,
    project: Option<PathBuf>,
    lease: Lease,
    contents_bytes_max: u64,
    journals: Mutex<OpenJournals>,
}

/// The journals that are open. Programs may have any number of sessions, but only so many open files.
#[derive(Default)]
struct OpenJournals {
    /// Each with when it was last used.
    open: HashMap<SessionId, (u64, Arc<Journal>)>,
    uses: u64,
    /// Sessions that are in a journal that was closed to make room.
    closed: HashSet<SessionId>,
}

/// How many journals are open at a time. The one that was silent longest makes room, and is opened again when needed.
const OPEN_MAX: usize = 64;

impl OpenJournals {
    fn get(&mut self, session_id: &SessionId) -> Option<Arc<Journal>> {
        self.uses += 1;
        let (used, journal) = self.open.get_mut(session_id)?;
        *used = self.uses;
        Some(Arc::clone(journal))
    }

    /// Adds a journal. The one that makes room is synced first: no later call would do it.
    fn add(&mut self, session_id: SessionId, journal: Arc<Journal>) -> Result<(), StoreError> {
        if self.open.len() >= OPEN_MAX {
            let unused = self.open.iter().filter(|(_, (_, journal))| Arc::strong_count(journal) == 1);
            let silent = unused.min_by_key(|(_, (used, _))| *used).map(|(id, _)| id.clone());
            if let Some((id, (_, silent))) = silent.and_then(|id| self.open.remove_entry(&id)) {
                self.closed.insert(id);
                silent.sync_now()?;
            }
        }
        self.uses += 1;
        self.closed.remove(&session_id);
        self.open.insert(session_id, (self.uses, journal));
        Ok(())
    }
}

/// A session that is ready to continue.
#[derive(Debug)]
pub struct ResumedSession {
    /// Its state after everything open was closed.
    pub state: SessionState,
    pub opened: OpenedJournal,
    /// Tool calls whose outcome is unknown. The model gets a note about each; the user should too.
    pub unfinished_calls: Vec<UnfinishedCall>,
    /// What was cut from the conversation, because the session is too large to keep in memory.
    pub truncation: TruncationReport,
}

/// How many bytes of contents a resumed session keeps in memory by default. More than any model reads at once.
pub const CONTENTS_BYTES_MAX: u64 = 64 * 1024 * 1024;

impl JournalStore {
    /// A store in `sessions` for sessions in the directory `project`. `lease` identifies the writer.
    pub fn new(sessions: SessionFiles, project: Option<PathBuf>, lease: Lease) -> Self {
        Self { sessions, project, lease, contents_bytes_max: CONTENTS_BYTES_MAX, journals: Mutex::default() }
    }

    /// Sets how many bytes of contents a resumed session keeps in memory.
    #[must_use]
    pub fn with_contents_bytes_max(mut self, contents_bytes_max: u64) -> Self {
        self.contents_bytes_max = contents_bytes_max;
        self
    }

    pub fn sessions(&self) -> &SessionFiles {
        &self.sessions
    }

    /// The journal of a session, which may not exist yet.
    pub fn path(&self, session_id: &SessionId) -> Option<PathBuf> {
        let name = SessionName::try_from(session_id).ok()?;
        Some(self.sessions.journal_path(&name, self.project.as_deref()))
    }

    /// Opens a session to continue it, and closes its interrupted runs in the journal.
    ///
    /// However large the session is, at most [`CONTENTS_BYTES_MAX`] bytes (or the configured limit) of long texts
    /// and images stay in memory, those of the newest events. Older ones are replaced by notes with their length.
    /// The journal keeps them.
    pub async fn resume(&self, name: &SessionName) -> Result<ResumedSession, ResumeError> {
        let mut state = SessionState::new();
        let mut truncation = TruncationReport::default();
        // Runs whose latest turn was truncated.
        let mut truncated: HashSet<RunId> = HashSet::new();
        let visit = |event: Event, left: TruncationReport| {
            if let Some(run_id) = &event.run_id {
                if matches!(event.kind, AgentEvent::Turn(TurnEvent::Start { .. })) {
                    truncated.remove(run_id);
                } else if left.texts > 0 {
                    truncated.insert(run_id.clone());
                }
            }
            truncation += left;
            state.apply(&event);
        };
        let opened = self.sessions.open_within(name, &self.lease, self.contents_bytes_max, visit);
        let (journal, opened) = opened?;
        let mut unfinished_calls = state.unfinished_calls();
        if unfinished_calls.iter().any(|call| truncated.contains(&call.run_id)) {
            self.read_full_arguments(name, &mut unfinished_calls)?;
        }
        // A fork has no events of its own yet.
        state.session_id = Some(name.session_id());
        for event in state.closing_events(self.lease.at) {
            journal.append(&event)?;
            state.apply(&event);
        }
        journal.sync().get().await?;
        self.journals().add(name.session_id(), Arc::new(journal))?;
        Ok(ResumedSession { state, opened, unfinished_calls, truncation })
    }

    /// Reads the full arguments of unfinished calls from the journal, because they may have been truncated.
    fn read_full_arguments(
        &self,
        name: &SessionName,
        unfinished_calls: &mut [UnfinishedCall],
    ) -> Result<(), SessionFileError> {
        self.sessions.read(name, |event| {
            if let AgentEvent::Tool(ToolEvent::Start { call_id, args, .. }) = &event.kind {
                let of_call =
                    |call: &&mut UnfinishedCall| event.belongs_to(&call.run_id) && call.call_id == *call_id;
                unfinished_calls
                    .iter_mut()
                    .filter(of_call)
                    .for_each(|call| call.arguments = Arc::clone(args));
            }
        })?;
        Ok(())
    }

    /// Creates a session that continues from event `seq` of `name`, and opens it.
    pub async fn fork(
        &self,
        name: &SessionName,
        seq: u64,
        to: &SessionId,
    ) -> Result<ResumedSession, ResumeError> {
        drop(self.sessions.fork(name, seq, to, &self.lease)?);
        self.resume(&SessionName::try_from(to).map_err(SessionFileError::from)?).await
    }

    /// The number of the last event of an open session; 0 if the session is not open.
    pub fn last_seq(&self, session_id: &SessionId) -> u64 {
        self.journals().open.get(session_id).map_or(0, |(_, journal)| journal.seq())
    }

    /// Closes a session, so that other processes can write to it.
    pub fn close(&self, session_id: &SessionId) {
        let mut journals = self.journals();
        journals.open.remove(session_id);
        journals.closed.remove(session_id);
    }

    fn journal(&self, session_id: &SessionId) -> Result<Arc<Journal>, StoreError> {
        let mut journals = self.journals();
        if let Some(journal) = journals.get(session_id) {
            return Ok(journal);
        }
        let journal = if journals.closed.contains(session_id) {
            let name = SessionName::try_from(session_id).map_err(SessionFileError::from)?;
            self.sessions.open(&name, &self.lease, |_| ())?.0
        } else {
            self.sessions.create(session_id, self.project.as_deref(), &self.lease)?
        };
        let journal = Arc::new(journal);
        journals.add(session_id.clone(), Arc::clone(&journal))?;
        Ok(journal)
    }

    fn journals(&self) -> MutexGuard<'_, OpenJournals> {
        self.journals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a session cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    #[error(transparent)]
    Session(#[from] SessionFileError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Store for JournalStore {
    fn append(&self, event: &Event) -> Result<(), StoreError> {
        self.journal(&event.session_id)?.append(event)
    }

    fn sync(&self) -> Answer<'_, Result<(), StoreError>> {
        let journals: Vec<Arc<Journal>> =
            self.journals().open.values().map(|(_, journal)| Arc::clone(journal)).collect();
        Answer::later(async move {
            for journal in journals {
                journal.sync().get().await?;
            }
            Ok(())
        })
    }
}
