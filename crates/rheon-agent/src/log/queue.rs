//! `EventQueue`: the events of one run on their way to the reader of its stream.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use rheon_types::{AgentEvent, Content, Event, ToolEvent};
use tokio::sync::Notify;

/// The maximum number of queued events before the run waits for its reader. Above it, only live reports of running
/// tools are dropped.
const QUEUE_EVENTS_MAX: usize = 1024;

/// The maximum size of queued live reports of tools, in bytes.
const REPORT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A queue between one run and one reader. The run waits for space, so a slow reader slows it down instead of filling
/// memory. A reader that left blocks nothing.
#[derive(Default)]
pub(crate) struct EventQueue {
    state: Mutex<State>,
    /// A copy of the queue's length, read without the lock.
    len: AtomicUsize,
    room: Notify,
}

#[derive(Default)]
struct State {
    events: VecDeque<Arc<Event>>,
    report_bytes: usize,
    ended: bool,
    reader_left: bool,
    waker: Option<Waker>,
}

impl EventQueue {
    pub(crate) fn push(&self, event: Arc<Event>) {
        let mut state = self.lock();
        let bytes = report_bytes(&event.kind);
        let is_full = state.events.len() >= QUEUE_EVENTS_MAX || state.report_bytes + bytes > REPORT_BYTES_MAX;
        if state.reader_left || (bytes > 0 && is_full) {
            return;
        }
        state.report_bytes += bytes;
        state.events.push_back(event);
        self.len.store(state.events.len(), Ordering::Relaxed);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Whether the run can continue without waiting.
    pub(crate) fn has_room(&self) -> bool {
        self.len.load(Ordering::Relaxed) < QUEUE_EVENTS_MAX
    }

    /// Waits until the queue has space.
    pub(crate) async fn ready(&self) {
        while !self.has_room() {
            let room = self.room.notified();
            if self.lock().events.len() < QUEUE_EVENTS_MAX {
                return;
            }
            room.await;
        }
    }

    /// No more events will come.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.ended = true;
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The reader left.
    pub(crate) fn leave(&self) {
        let mut state = self.lock();
        state.reader_left = true;
        state.events.clear();
        self.len.store(0, Ordering::Relaxed);
        drop(state);
        self.room.notify_one();
    }

    pub(crate) fn poll_next(&self, context: &mut Context<'_>) -> Poll<Option<Arc<Event>>> {
        let mut state = self.lock();
        if let Some(event) = state.events.pop_front() {
            state.report_bytes = state.report_bytes.saturating_sub(report_bytes(&event.kind));
            let len = state.events.len();
            self.len.store(len, Ordering::Relaxed);
            drop(state);
            if len + 1 == QUEUE_EVENTS_MAX {
                self.room.notify_one();
            }
            return Poll::Ready(Some(event));
        }
        if state.ended {
            return Poll::Ready(None);
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The size of a live report of a tool; 0 for other events.
fn report_bytes(event: &AgentEvent) -> usize {
    match event {
        AgentEvent::Tool(ToolEvent::Progress { text, .. }) => text.len() + 1,
        AgentEvent::Tool(ToolEvent::Update { partial, .. }) => {
            partial.content.iter().map(Content::bytes).sum::<usize>() + 1
        }
        _ => 0,
    }
}
