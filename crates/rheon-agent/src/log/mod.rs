//! `EventLog`: numbers events, stores the durable ones and shows all of them to observers.

mod observers;
mod queue;

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use observers::NotifyResult;
use rheon_types::event::{TaskItem, ToolSetVersion};
use rheon_types::{
    AgentEvent, Clock, ContextEvent, ContinuationKind, Event, History, PlanEvent, RunEvent, RunId, SessionId,
    Store, StoreError, Timestamp, WindowCut,
};

pub use observers::{EventSubscription, Observers, RecvError};
pub(crate) use queue::EventQueue;

use crate::context::LoggedConversation;
use crate::conversation::Conversation;
use crate::panics::panic_text;

/// The log of one session. Clones share it.
///
/// Events are numbered, stored and shown under one lock, so every observer sees them in the order of the log.
#[derive(Clone)]
pub struct EventLog {
    inner: Arc<Inner>,
}

/// Where a session continues in its log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogPosition {
    /// The number of the last durable event.
    pub seq: u64,
    /// The number of runs per configuration, by its part of the run id.
    pub run_counts: HashMap<String, usize>,
    /// The task list.
    pub tasks: Vec<TaskItem>,
}

struct Inner {
    session_id: SessionId,
    clock: Arc<dyn Clock>,
    store: Option<Arc<dyn Store>>,
    observers: Observers,
    /// The number of the last durable event. Read without the lock, so that callbacks can query it.
    seq: AtomicU64,
    /// The number of runs per configuration. Separate from the state, so that callbacks can start a run.
    run_counts: Mutex<HashMap<String, usize>>,
    /// The current task list.
    tasks: Mutex<Arc<[TaskItem]>>,
    /// Numbers were skipped, so the order is not checked.
    #[cfg(debug_assertions)]
    has_gaps: std::sync::atomic::AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Set by the first failed write; later events wait in `unstored`.
    failure: Option<StoreError>,
    /// The conversation recorded so far.
    conversation: LoggedConversation,
    /// The tools last offered, if they can change.
    tools: Option<Arc<ToolSetVersion>>,
    /// Durable events that could not be stored. A run stops at its next side effect, so these are the events of one
    /// turn.
    unstored: Vec<Event>,
    #[cfg(debug_assertions)]
    order: rheon_types::event::OrderChecker,
}

/// The message after a callback panicked.
const BROKEN_CALLBACK: &str = "an event callback panicked and will not be called again";

impl EventLog {
    /// The log of a new session.
    pub fn new(
        session_id: SessionId,
        clock: Arc<dyn Clock>,
        store: Option<Arc<dyn Store>>,
        observers: Observers,
    ) -> Self {
        Self::resume(session_id, clock, store, observers, LogPosition::default())
    }

    /// Resumes the log of a session at `position`.
    pub fn resume(
        session_id: SessionId,
        clock: Arc<dyn Clock>,
        store: Option<Arc<dyn Store>>,
        observers: Observers,
        position: LogPosition,
    ) -> Self {
        let (seq, run_counts) = (AtomicU64::new(position.seq), Mutex::new(position.run_counts));
        let tasks = Mutex::new(position.tasks.into());
        let state = Mutex::default();
        #[cfg(debug_assertions)]
        let has_gaps = std::sync::atomic::AtomicBool::default();
        let inner = Inner {
            session_id,
            clock,
            store,
            observers,
            seq,
            run_counts,
            tasks,
            #[cfg(debug_assertions)]
            has_gaps,
            state,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Sets the conversation recorded before `position`.
    pub fn with_conversation(self, history: &History) -> Self {
        self.with_window(history, &[])
    }

    /// Sets the conversation and cuts recorded before `position`.
    pub fn with_window(self, history: &History, cuts: &[WindowCut]) -> Self {
        self.lock().conversation = LoggedConversation::new(history, cuts);
        self
    }

    /// The conversation and cuts that a run has to record; nothing if the log already contains them.
    pub(crate) fn unlogged(
        &self,
        begun: &Conversation,
        continuation: Option<&ContinuationKind>,
    ) -> (Option<History>, Vec<WindowCut>) {
        let (history, cuts) = (begun.history(), begun.cuts());
        let is_logged = self.lock().conversation.is_logged(history, cuts, continuation);
        if is_logged { (None, Vec::new()) } else { (Some(history.clone()), cuts.to_vec()) }
    }

    /// Accounts for an event recorded elsewhere, which has the next number.
    pub(crate) fn take_in(&self, kind: &AgentEvent) {
        self.take_tasks(kind);
        self.inner.seq.fetch_add(1, Ordering::AcqRel);
        #[cfg(debug_assertions)]
        self.inner.has_gaps.store(true, Ordering::Release);
    }

    /// The session id.
    pub fn session_id(&self) -> &SessionId {
        &self.inner.session_id
    }

    /// The number of the last durable event.
    pub fn seq(&self) -> u64 {
        self.inner.seq.load(Ordering::Acquire)
    }

    /// The current task list.
    pub(crate) fn tasks(&self) -> Arc<[TaskItem]> {
        Arc::clone(&self.inner.tasks.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The tools last offered, if they can change and this log has recorded them.
    pub(crate) fn tools(&self) -> Option<Arc<ToolSetVersion>> {
        self.lock().tools.clone()
    }

    fn take_tasks(&self, kind: &AgentEvent) {
        if let AgentEvent::Plan(PlanEvent::Tasks { items }) = kind {
            *self.inner.tasks.lock().unwrap_or_else(PoisonError::into_inner) = items.clone().into();
        }
    }

    /// The id of the next run with the configuration `segment`.
    pub(crate) fn next_run_id(&self, segment: &str) -> RunId {
        let mut run_counts = self.inner.run_counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = run_counts.entry(segment.to_owned()).or_default();
        *count += 1;
        RunId::derive(&self.inner.session_id, segment, *count)
    }

    /// Whether the log is stored.
    pub(crate) fn is_stored(&self) -> bool {
        self.inner.store.is_some()
    }

    /// Retries a failed store, starting with the events it missed.
    pub(crate) fn recover(&self) {
        let mut state = self.lock();
        if state.failure.take().is_none() {
            return;
        }
        for event in std::mem::take(&mut state.unstored) {
            self.keep(&mut state, &event);
        }
    }

    /// Appends an event. Observers see it even if it cannot be stored; [`Self::sync`] returns the error.
    pub(crate) fn emit(&self, run_id: &RunId, queue: Option<&EventQueue>, kind: AgentEvent) {
        if !kind.is_durable() && queue.is_none() && !self.inner.observers.any() {
            return;
        }
        self.emit_at(self.inner.clock.now(), run_id, queue, kind);
    }

    /// Appends a session fact outside a run. Observers see it even if it cannot be stored.
    pub fn record_fact(&self, fact: impl Into<AgentEvent>) {
        self.append(self.inner.clock.now(), None, None, fact.into());
    }

    /// Appends an event that happened at this time.
    pub(crate) fn emit_at(
        &self,
        at: Timestamp,
        run_id: &RunId,
        queue: Option<&EventQueue>,
        kind: AgentEvent,
    ) {
        self.append(at, Some(run_id), queue, kind);
    }

    fn append(&self, at: Timestamp, run_id: Option<&RunId>, queue: Option<&EventQueue>, kind: AgentEvent) {
        self.take_tasks(&kind);
        let mut state = self.lock();
        state.conversation.apply(&kind);
        if let AgentEvent::Context(ContextEvent::Tools { set }) = &kind {
            state.tools = Some(Arc::clone(set));
        }
        let mut next = Some(kind);
        while let Some(kind) = next.take() {
            let event = self.number(at, run_id, kind);
            if event.kind.is_durable() {
                self.keep(&mut state, &event);
            }
            #[cfg(debug_assertions)]
            if !self.inner.has_gaps.load(Ordering::Acquire)
                && let Err(violation) = state.order.observe(&event)
            {
                // A second panic while unwinding would hide the first.
                debug_assert!(std::thread::panicking(), "{violation}");
            }
            if self.inner.observers.show(event, queue) == NotifyResult::CallbackPanicked {
                next = Some(AgentEvent::Run(RunEvent::Error { message: BROKEN_CALLBACK.into() }));
            }
        }
    }

    /// Shows an event of another session to observers. It is neither numbered nor stored, and not part of a run's
    /// stream, which ends with the run's own `agent.end`.
    pub(crate) fn show_child(&self, run_id: &RunId, event: &Event) {
        if !self.inner.observers.any() {
            return;
        }
        let state = self.lock();
        let shown = self.inner.observers.show(event.clone(), None);
        drop(state);
        if shown == NotifyResult::CallbackPanicked {
            self.emit(run_id, None, AgentEvent::Run(RunEvent::Error { message: BROKEN_CALLBACK.into() }));
        }
    }

    fn number(&self, at: Timestamp, run_id: Option<&RunId>, kind: AgentEvent) -> Event {
        let step = u64::from(kind.is_durable());
        let seq = self.inner.seq.fetch_add(step, Ordering::AcqRel) + step;
        Event { seq, at, session_id: self.inner.session_id.clone(), run_id: run_id.cloned(), kind }
    }

    /// Waits until all appended events are stored safely. Returns an error if any could not be stored.
    pub(crate) async fn sync(&self) -> Result<(), StoreError> {
        if let Some(failure) = self.failure() {
            return Err(failure);
        }
        let Some(store) = &self.inner.store else { return Ok(()) };
        let syncing = AssertUnwindSafe(async { store.sync().get().await });
        let outcome = syncing.catch_unwind().await.unwrap_or_else(|panic| Err(panicked(&*panic)));
        if let Err(failure) = &outcome {
            self.lock().failure = Some(failure.clone());
        }
        outcome
    }

    /// The failed write, if any.
    pub(crate) fn failure(&self) -> Option<StoreError> {
        self.lock().failure.clone()
    }

    fn keep(&self, state: &mut State, event: &Event) {
        let Some(store) = &self.inner.store else { return };
        if state.failure.is_none() {
            let append = AssertUnwindSafe(|| store.append(event));
            state.failure = catch_unwind(append).unwrap_or_else(|panic| Err(panicked(&*panic))).err();
        }
        if state.failure.is_some() {
            state.unstored.push(event.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn panicked(panic: &(dyn Any + Send)) -> StoreError {
    StoreError::new(format!("the store panicked: {}", panic_text(panic)))
}

#[cfg(test)]
mod order_tests;
