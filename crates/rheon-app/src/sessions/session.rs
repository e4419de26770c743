//! `SessionHandle`: a session that is ready for an agent.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rheon_agent::{AgentBuilder, LogPosition};
use rheon_store::checkpoint::{Checkpoints, TurnCheckpoints};
use rheon_store::fold::{SessionState, UnfinishedCall};
use rheon_store::sessions::JournalStore;
use rheon_types::{AgentMessage, Clock, Effect, Event, Random, SessionId, Store, StoreError, Tool};

use super::indexing::Indexing;
use super::persistent_store::PersistentStore;
use super::transcripts::TranscriptObserver;

/// A session that is ready for an agent. While it lives, no other process writes to the session.
pub struct SessionHandle {
    pub(super) session_id: SessionId,
    pub(super) past: Past,
    pub(super) storage: Option<SessionStorage>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) random: Arc<dyn Random>,
}

/// Reads the events of a session after a number that are not in its journal, at most so many.
pub(crate) type Unsaved = Arc<dyn Fn(&SessionId, u64, usize) -> Vec<Arc<Event>> + Send + Sync>;

/// What happened in the session before.
#[derive(Default)]
pub(super) struct Past {
    pub(super) state: SessionState,
    pub(super) unfinished_calls: Vec<UnfinishedCall>,
}

/// What keeps the session.
pub(super) struct SessionStorage {
    pub(super) journals: Arc<JournalStore>,
    pub(super) store: Arc<PersistentStore>,
    pub(super) transcripts: Option<Arc<TranscriptObserver>>,
    pub(super) indexing: Arc<Indexing>,
    pub(super) checkpoints: Option<Arc<Checkpoints>>,
}

impl SessionHandle {
    /// The session's id.
    pub fn session_id(&self) -> &SessionId {
        &self.session_id
    }

    /// The state of the session.
    pub fn state(&self) -> &SessionState {
        &self.past.state
    }

    /// The messages so far.
    pub fn messages(&self) -> Vec<Arc<AgentMessage>> {
        self.past.state.messages()
    }

    /// Tool calls that were running when the program ended, so their outcome is unknown. Show them to the user; the model
    /// sees them too.
    pub fn unfinished_calls(&self) -> &[UnfinishedCall] {
        &self.past.unfinished_calls
    }

    /// Whether it is saved; otherwise it is in memory only.
    pub fn is_saved(&self) -> bool {
        self.storage.is_some()
    }

    /// The checkpoints of its workspace, if there are any.
    pub fn checkpoints(&self) -> Option<&Arc<Checkpoints>> {
        self.storage.as_ref().and_then(|storage| storage.checkpoints.as_ref())
    }

    /// The file that follows the conversation: the transcript that Claude Code can resume, or else the journal. It may not
    /// exist yet.
    pub(crate) fn transcript_path(&self) -> Option<PathBuf> {
        let storage = self.storage.as_ref()?;
        let transcript =
            storage.transcripts.as_ref().and_then(|transcripts| transcripts.path(&self.session_id));
        transcript.or_else(|| storage.journals.path(&self.session_id))
    }

    /// A reader of the unsaved events of a session: see [`PersistentStore::unsaved`].
    pub(crate) fn unsaved(&self) -> Unsaved {
        let store = self.storage.as_ref().map(|storage| Arc::clone(&storage.store));
        Arc::new(move |session_id, after, events_max| {
            let unsaved = |store: &Arc<PersistentStore>| store.unsaved(session_id, after, events_max);
            store.as_ref().map(unsaved).unwrap_or_default()
        })
    }

    /// Connects an agent to this session: its conversation, its log, its transcript, its row in the
    /// index, and checkpoints before any of `tools` changes something.
    pub fn wire(&self, builder: AgentBuilder, tools: &[Arc<dyn Tool>]) -> AgentBuilder {
        let state = &self.past.state;
        let run_counts = state.run_counts().iter().map(|(name, count)| (name.clone(), *count)).collect();
        let builder = builder
            .session(self.session_id.clone())
            .clock(Arc::clone(&self.clock))
            .random(Arc::clone(&self.random))
            .history(state.messages().into_iter().collect())
            .cuts(state.cuts().to_vec())
            .position(LogPosition { seq: state.seq, run_counts, tasks: state.tasks.clone() });
        let Some(storage) = &self.storage else { return builder };
        let last_seq = Arc::new(AtomicU64::new(state.seq));
        let builder = builder
            .store(Arc::clone(&storage.store) as Arc<dyn Store>)
            .on_event(observer(storage, &last_seq));
        match &storage.checkpoints {
            Some(checkpoints) => builder.hook(self.hook(checkpoints, last_seq, tools)),
            None => builder,
        }
    }

    fn hook(
        &self,
        checkpoints: &Arc<Checkpoints>,
        last_seq: Arc<AtomicU64>,
        tools: &[Arc<dyn Tool>],
    ) -> TurnCheckpoints {
        let only_look: HashSet<String> = tools
            .iter()
            .filter(|tool| match tool.effect() {
                Effect::Pure => true,
                Effect::Idempotent | Effect::Unsafe => false,
            })
            .map(|tool| tool.name().to_owned())
            .collect();
        TurnCheckpoints::new(Arc::clone(checkpoints), Arc::clone(&self.clock), move |call| {
            !only_look.contains(call.name.as_str())
        })
        .session(self.session_id.clone(), move || last_seq.load(Ordering::Acquire))
    }

    /// Waits until everything is on disk. An error means that the end of the session may be lost.
    pub async fn save(&self) -> Result<(), StoreError> {
        match &self.storage {
            Some(storage) => storage.store.sync().get().await,
            None => Ok(()),
        }
    }

    /// Waits until the index is up to date, and releases the session for other processes.
    pub async fn close(&self) {
        if let Some(storage) = &self.storage {
            storage.indexing.settle().await;
            storage.journals.close(&self.session_id);
        }
    }
}

/// Updates transcript and index with the events of a saved session.
fn observer(storage: &SessionStorage, last_seq: &Arc<AtomicU64>) -> impl Fn(&Event) + Send + Sync + 'static {
    let (transcripts, indexing) = (storage.transcripts.clone(), Arc::clone(&storage.indexing));
    let last_seq = Arc::clone(last_seq);
    move |event: &Event| {
        last_seq.store(event.seq, Ordering::Release);
        if let Some(transcripts) = &transcripts {
            transcripts.record(event);
        }
        indexing.observe(event);
    }
}
