//! `Indexing`: updates the index of sessions in the background. It may be missing, old or damaged at any time; the journals
//! are the truth.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_store::SessionName;
use rheon_store::sessions::{SessionFiles, SessionListing};
use rheon_store::sqlite::{DatabaseError, ForkPoint, IS_COMPILED_IN, Index, IndexState, SessionSource};
use rheon_types::{AgentEvent, Event, RunEvent, SessionId};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::notice::SessionNotice;
use super::notice_sink::SessionNoticeSink;

/// How many jobs may be queued. A job without room is dropped: the next read of the session catches up.
const JOBS_MAX: usize = 64;

/// How many events of a run are buffered for the index. A longer run is read from its journal.
const HELD_EVENTS_MAX: usize = 2_000;

/// How many events are read ahead of the index.
const READ_AHEAD_EVENTS: usize = 256;

/// The index of sessions, updated in the background.
pub(super) struct Indexing {
    path: PathBuf,
    sessions: SessionFiles,
    tell: SessionNoticeSink,
    /// Events of current runs, by session.
    held: Mutex<HashMap<SessionId, Vec<Event>>>,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    is_working: bool,
    worker: Option<JoinHandle<()>>,
    has_failed: bool,
}

enum Job {
    /// Takes in these events of a session.
    Take(SessionId, Vec<Event>),
    /// Rebuild the index.
    Rebuild,
}

impl Indexing {
    pub(super) fn new(path: PathBuf, sessions: SessionFiles, tell: SessionNoticeSink) -> Self {
        Self { path, sessions, tell, held: Mutex::default(), queue: Mutex::default() }
    }

    /// Queues an event; the index is updated when a run starts, so that the session is listed, and when it ends.
    pub(super) fn observe(self: &Arc<Self>, event: &Event) {
        if !event.kind.is_durable() {
            return;
        }
        let is_due = matches!(
            event.kind,
            AgentEvent::Run(RunEvent::Start { .. }) | AgentEvent::Run(RunEvent::End { .. })
        );
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let events = held.entry(event.session_id.clone()).or_default();
        if events.len() < HELD_EVENTS_MAX {
            events.push(event.clone());
        }
        if is_due {
            let events = held.remove(&event.session_id).unwrap_or_default();
            drop(held);
            self.push(Job::Take(event.session_id.clone(), events));
        }
    }

    /// Rebuilds the index in the background.
    pub(super) fn rebuild_later(self: &Arc<Self>) {
        self.push(Job::Rebuild);
    }

    /// Waits until nothing is left to do.
    pub(super) async fn settle(&self) {
        loop {
            let worker = self.queue().worker.take();
            match worker {
                // A worker that panicked has nothing more to do either.
                Some(worker) => drop(worker.await),
                None => return,
            }
        }
    }

    fn push(self: &Arc<Self>, job: Job) {
        if !IS_COMPILED_IN {
            return;
        }
        // Without a runtime there is no background work; the next use of the session catches up.
        let Ok(runtime) = Handle::try_current() else { return };
        let mut queue = self.queue();
        let is_rebuild = |job: &Job| matches!(job, Job::Rebuild);
        let is_doubled = is_rebuild(&job) && queue.jobs.iter().any(is_rebuild);
        if queue.jobs.len() >= JOBS_MAX || is_doubled {
            return;
        }
        queue.jobs.push_back(job);
        if !queue.is_working {
            queue.is_working = true;
            let indexing = Arc::clone(self);
            queue.worker = Some(runtime.spawn_blocking(move || indexing.work()));
        }
    }

    fn next_job(&self) -> Option<Job> {
        let mut queue = self.queue();
        let job = queue.jobs.pop_front();
        queue.is_working = job.is_some();
        job
    }

    fn work(&self) {
        while let Some(job) = self.next_job() {
            if let Err(error) = self.job(job) {
                let mut queue = self.queue();
                let is_first = !std::mem::replace(&mut queue.has_failed, true);
                drop(queue);
                if is_first {
                    self.tell.tell(SessionNotice::NoIndex { why: error.to_string() });
                }
            }
        }
    }

    fn job(&self, job: Job) -> Result<(), DatabaseError> {
        let outcome = self.open().and_then(|index| match &job {
            Job::Take(session_id, events) => self.take(&index, session_id, events),
            Job::Rebuild => self.rebuild(&index),
        });
        match outcome {
            Err(error) if error.is_damage() => {
                let (index, _) = Index::replace_if_damaged(&self.path)?;
                self.rebuild(&index)
            }
            outcome => outcome,
        }
    }

    /// The complete index; rebuilt from the journals if it is missing or incomplete.
    pub(super) fn open(&self) -> Result<Index, DatabaseError> {
        let (index, state) = Index::open(&self.path)?;
        match state {
            IndexState::Whole => {}
            IndexState::Partial | IndexState::Replaced { .. } => self.rebuild(&index)?,
        }
        Ok(index)
    }

    /// The index if it is whole, without the time that it takes to make it so.
    pub(super) fn open_if_whole(&self) -> Result<Option<Index>, DatabaseError> {
        if !IS_COMPILED_IN {
            return Ok(None);
        }
        let (index, state) = Index::open(&self.path)?;
        Ok(match state {
            IndexState::Whole => Some(index),
            IndexState::Partial | IndexState::Replaced { .. } => None,
        })
    }

    fn rebuild(&self, index: &Index) -> Result<(), DatabaseError> {
        let listed = self.sessions.list(None).into_iter();
        let sources = listed.filter_map(|listed| {
            let source = source(&listed)?;
            let events = own_events(self.sessions.clone(), listed.name, 0);
            Some((source, events))
        });
        index.rebuild(sources).map(|_| ())
    }

    fn take(&self, index: &Index, session_id: &SessionId, events: &[Event]) -> Result<(), DatabaseError> {
        let Ok(name) = SessionName::try_from(session_id) else { return Ok(()) };
        let Some(source) = self.sessions.listed(&name).ok().as_ref().and_then(source) else { return Ok(()) };
        let recorded = index.record(&source, events)?;
        let was_cut = events.len() >= HELD_EVENTS_MAX;
        if recorded.missing_from.is_some() || was_cut {
            self.catch_up(index, &source, &name)?;
        }
        Ok(())
    }

    /// Updates the index from the journal of a session.
    pub(super) fn catch_up(
        &self,
        index: &Index,
        source: &SessionSource,
        name: &SessionName,
    ) -> Result<(), DatabaseError> {
        let after = index.position(&source.session_id)?.unwrap_or(0);
        let mut events = own_events(self.sessions.clone(), name.clone(), after).into_iter();
        loop {
            let batch: Vec<Event> = events.by_ref().take(HELD_EVENTS_MAX).collect();
            if batch.is_empty() {
                return Ok(());
            }
            index.record(source, &batch)?;
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a session's journal is; nothing if the journal cannot be read.
pub(super) fn source(listed: &SessionListing) -> Option<SessionSource> {
    let header = listed.header.as_ref().ok()?;
    Some(SessionSource {
        session_id: header.session_id.clone(),
        project: header.project.clone().unwrap_or_default(),
        path: listed.path.clone(),
        parent: header
            .parent
            .as_ref()
            .map(|parent| ForkPoint { session_id: parent.session_id.clone(), seq: parent.seq }),
    })
}

/// The name that the index knows a project by.
pub(super) fn project_name(project: &Path) -> String {
    project.display().to_string()
}

/// The events of a session that are its own, after number `after`, read on a thread of its own so that only a few are in memory.
fn own_events(sessions: SessionFiles, name: SessionName, after: u64) -> Receiver<Event> {
    let (sender, receiver) = sync_channel(READ_AHEAD_EVENTS);
    let read = move || {
        let session_id = name.session_id();
        let mut is_wanted = true;
        let visit = |event: Event| {
            if is_wanted && event.session_id == session_id && event.seq > after {
                is_wanted = sender.send(event).is_ok();
            }
        };
        // Everything readable is in the index; damage is reported when the session is opened.
        sessions.read(&name, visit).ok();
    };
    // Without a thread there is nothing to read, and the session is not up to date: the next look tries again.
    std::thread::Builder::new().name("rheon-index".into()).spawn(read).ok();
    receiver
}
