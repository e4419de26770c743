//! Who watches: callbacks, a broadcast channel, and the queue of a two-way stream.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rheon_types::Event;
use tokio::sync::broadcast;
/// Why a subscriber got no event: it lagged by so many, or the agent is gone.
pub use tokio::sync::broadcast::error::RecvError;

use super::queue::EventQueue;
use crate::error::BROADCAST_EVENTS_MAX;

/// One subscriber's end of the broadcast. A subscriber that lags is told how many events it missed and goes on with
/// the oldest that is left; it never holds up the run.
pub type EventSubscription = broadcast::Receiver<Arc<Event>>;

type Callback = Arc<dyn Fn(&Event) + Send + Sync>;
type SharedCallback = Arc<dyn Fn(&Arc<Event>) + Send + Sync>;

/// How showing an event went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotifyResult {
    Delivered,
    CallbackPanicked,
}

/// Those who watch all runs of an agent.
#[derive(Clone, Default)]
pub struct Observers {
    callbacks: Vec<CallbackSlot>,
    /// Those who keep events; they must not panic.
    shared_callbacks: Vec<SharedCallback>,
    broadcast: Option<broadcast::Sender<Arc<Event>>>,
}

#[derive(Clone)]
struct CallbackSlot {
    callback: Callback,
    /// A callback that panicked is not called again.
    broken: Arc<AtomicBool>,
}

impl Observers {
    /// Adds a callback. It is called in the order of the log, so it should return soon.
    pub fn on_event(mut self, callback: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.callbacks
            .push(CallbackSlot { callback: Arc::new(callback), broken: Arc::new(AtomicBool::new(false)) });
        self
    }

    /// Adds a callback that may keep the event without copying it. It is called in the order of the log, so it should return
    /// soon; it must not panic.
    pub fn on_shared_event(mut self, callback: impl Fn(&Arc<Event>) + Send + Sync + 'static) -> Self {
        self.shared_callbacks.push(Arc::new(callback));
        self
    }

    /// Opens a broadcast channel with room for `capacity` events, from 1 to 65,536.
    pub fn with_broadcast(mut self, capacity: usize) -> Self {
        self.broadcast = Some(broadcast::Sender::new(capacity.clamp(1, BROADCAST_EVENTS_MAX)));
        self
    }

    /// A new subscriber, if there is a broadcast channel.
    pub fn subscribe(&self) -> Option<EventSubscription> {
        self.broadcast.as_ref().map(broadcast::Sender::subscribe)
    }

    /// Whether anybody watches right now.
    pub(super) fn any(&self) -> bool {
        !self.callbacks.is_empty() || !self.shared_callbacks.is_empty() || self.listeners().is_some()
    }

    /// Shows an event to all. Only those who keep it make it shared, which is the one allocation.
    pub(super) fn show(&self, event: Event, queue: Option<&EventQueue>) -> NotifyResult {
        let shown = self.call(&event);
        let listeners = self.listeners();
        if listeners.is_none() && queue.is_none() && self.shared_callbacks.is_empty() {
            return shown;
        }
        let event = Arc::new(event);
        self.shared_callbacks.iter().for_each(|callback| callback(&event));
        if let Some(queue) = queue {
            queue.push(Arc::clone(&event));
        }
        if let Some(listeners) = listeners {
            // Sending fails only if the last listener has just left, which is its right.
            listeners.send(event).ok();
        }
        shown
    }

    fn listeners(&self) -> Option<&broadcast::Sender<Arc<Event>>> {
        self.broadcast.as_ref().filter(|channel| channel.receiver_count() > 0)
    }

    fn call(&self, event: &Event) -> NotifyResult {
        let mut shown = NotifyResult::Delivered;
        for watched in &self.callbacks {
            if watched.broken.load(Ordering::Relaxed) {
                continue;
            }
            if catch_unwind(AssertUnwindSafe(|| (watched.callback)(event))).is_err() {
                watched.broken.store(true, Ordering::Relaxed);
                shown = NotifyResult::CallbackPanicked;
            }
        }
        shown
    }
}
