//! `JournalStore`: the store of a program: each session that it runs has its journal.

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

/// Keeps the events of any number of sessions, each in its journal, which is made when the first of them comes.
pub struct JournalStore {
    sessions: SessionFiles,
    project: Option<PathBuf>,
    lease: Lease,
    contents_bytes_max: u64,
    journals: Mutex<HashMap<SessionId, Arc<Journal>>>,
}

/// A session to go on with.
#[derive(Debug)]
pub struct ResumedSession {
    /// Where it stands, with everything closed that was open.
    pub state: SessionState,
    /// What was found in the journal, and what was done to it.
    pub opened: OpenedJournal,
    /// Tool calls whose end is not known. The model is told of them; the user should be, too.
    pub unfinished_calls: Vec<UnfinishedCall>,
    /// What the conversation has notes for instead, because the session is too large to keep all of it in memory.
    pub left_out: TruncationReport,
}

/// How much a session that is gone on with keeps in memory of its contents, unless said otherwise. Larger than what any model
/// reads at once.
pub const CONTENTS_BYTES_MAX: u64 = 64 * 1024 * 1024;

impl JournalStore {
    /// A store in `sessions` for sessions that work in `project`. `lease` says who writes.
    pub fn new(sessions: SessionFiles, project: Option<PathBuf>, lease: Lease) -> Self {
        Self { sessions, project, lease, contents_bytes_max: CONTENTS_BYTES_MAX, journals: Mutex::default() }
    }

    /// The same store with another limit for what a session that is gone on with keeps in memory of its contents.
    #[must_use]
    pub fn with_contents_bytes_max(mut self, contents_bytes_max: u64) -> Self {
        self.contents_bytes_max = contents_bytes_max;
        self
    }

    /// The sessions.
    pub fn sessions(&self) -> &SessionFiles {
        &self.sessions
    }

    /// Opens a session to go on with it. Runs that ended without saying so are closed in the journal.
    ///
    /// However large the session is, no more than [`CONTENTS_BYTES_MAX`] (or what was said instead) of its long texts and
    /// pictures are kept in memory, those of its newest events. In the place of older ones the conversation has notes
    /// that say how long they were; the journal keeps them.
    pub async fn resume(&self, name: &SessionName) -> Result<ResumedSession, ResumeError> {
        let mut state = SessionState::new();
        let mut left_out = TruncationReport::default();
        // Runs whose newest turn is not whole.
        let mut noted: HashSet<RunId> = HashSet::new();
        let visit = |event: Event, left: TruncationReport| {
            if let Some(run_id) = &event.run_id {
                if matches!(event.kind, AgentEvent::Turn(TurnEvent::Start { .. })) {
                    noted.remove(run_id);
                } else if left.texts > 0 {
                    noted.insert(run_id.clone());
                }
            }
            left_out += left;
            state.apply(&event);
        };
        let opened = self.sessions.open_within(name, &self.lease, self.contents_bytes_max, visit);
        let (journal, opened) = opened?;
        let mut unfinished_calls = state.unfinished_calls();
        if unfinished_calls.iter().any(|doubt| noted.contains(&doubt.run_id)) {
            self.recall(name, &mut unfinished_calls)?;
        }
        // A session that goes on from another has no event of its own yet.
        state.session_id = Some(name.session_id());
        for event in state.closing_events(self.lease.at) {
            journal.append(&event)?;
            state.apply(&event);
        }
        journal.sync().get().await?;
        self.journals().insert(name.session_id(), Arc::new(journal));
        Ok(ResumedSession { state, opened, unfinished_calls, left_out })
    }

    /// Reads the arguments of calls in doubt as they are in the journal: whoever looks into a doubt needs all of them.
    fn recall(
        &self,
        name: &SessionName,
        unfinished_calls: &mut [UnfinishedCall],
    ) -> Result<(), SessionFileError> {
        self.sessions.read(name, |event| {
            if let AgentEvent::Tool(ToolEvent::Start { call_id, args, .. }) = &event.kind {
                let of_call =
                    |doubt: &&mut UnfinishedCall| event.is_of(&doubt.run_id) && doubt.call_id == *call_id;
                unfinished_calls
                    .iter_mut()
                    .filter(of_call)
                    .for_each(|doubt| doubt.arguments = Arc::clone(args));
            }
        })?;
        Ok(())
    }

    /// A new session that goes on from event `seq` of `name`, ready to be gone on with.
    pub async fn fork(
        &self,
        name: &SessionName,
        seq: u64,
        to: &SessionId,
    ) -> Result<ResumedSession, ResumeError> {
        drop(self.sessions.fork(name, seq, to, &self.lease)?);
        self.resume(&SessionName::try_from(to).map_err(SessionFileError::from)?).await
    }

    /// The number of the last event of a session that this store writes to; 0 if it does not.
    pub fn last_seq(&self, session_id: &SessionId) -> u64 {
        self.journals().get(session_id).map_or(0, |journal| journal.seq())
    }

    /// Lets go of a session, so that others may write to it.
    pub fn close(&self, session_id: &SessionId) {
        self.journals().remove(session_id);
    }

    fn journal(&self, session_id: &SessionId) -> Result<Arc<Journal>, StoreError> {
        let mut journals = self.journals();
        if let Some(journal) = journals.get(session_id) {
            return Ok(Arc::clone(journal));
        }
        let made = self.sessions.create(session_id, self.project.as_deref(), &self.lease);
        let journal = Arc::new(made?);
        journals.insert(session_id.clone(), Arc::clone(&journal));
        Ok(journal)
    }

    fn journals(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Journal>>> {
        self.journals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a session cannot be gone on with.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// It cannot be opened.
    #[error(transparent)]
    Session(#[from] SessionFileError),
    /// It cannot be written to.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Store for JournalStore {
    fn append(&self, event: &Event) -> Result<(), StoreError> {
        self.journal(&event.session_id)?.append(event)
    }

    fn sync(&self) -> Answer<'_, Result<(), StoreError>> {
        let journals: Vec<Arc<Journal>> = self.journals().values().cloned().collect();
        Answer::later(async move {
            for journal in journals {
                journal.sync().get().await?;
            }
            Ok(())
        })
    }
}
