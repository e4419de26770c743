//! Observers of events: callbacks, a broadcast channel and the queue of a run's stream.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rheon_types::Event;
use tokio::sync::broadcast;
/// Why a subscriber got no event: it lagged behind, or the agent was dropped.
pub use tokio::sync::broadcast::error::RecvError;

use super::queue::EventQueue;
use crate::error::BROADCAST_EVENTS_MAX;

/// A subscriber of the broadcast. A subscriber that lags learns how many events it missed and continues with the oldest
/// available one. It never blocks the run.
pub type EventSubscription = broadcast::Receiver<Arc<Event>>;

type Callback = Arc<dyn Fn(&Event) + Send + Sync>;
type SharedCallback = Arc<dyn Fn(&Arc<Event>) + Send + Sync>;

/// The result of notifying observers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotifyResult {
    Delivered,
    CallbackPanicked,
}

/// The observers of all runs of an agent.
#[derive(Clone, Default)]
pub struct Observers {
    callbacks: Vec<CallbackSlot>,
    /// Callbacks that share events. They must not panic.
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
    /// Adds a callback. It is called in log order and should return quickly.
    pub fn on_event(mut self, callback: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.callbacks
            .push(CallbackSlot { callback: Arc::new(callback), broken: Arc::new(AtomicBool::new(false)) });
        self
    }

    /// Adds a callback that can store the event without copying it. It is called in log order, should return quickly
    /// and must not panic.
    pub fn on_shared_event(mut self, callback: impl Fn(&Arc<Event>) + Send + Sync + 'static) -> Self {
        self.shared_callbacks.push(Arc::new(callback));
        self
    }

    /// Opens a broadcast channel for `capacity` events, from 1 to 65,536.
    pub fn with_broadcast(mut self, capacity: usize) -> Self {
        self.broadcast = Some(broadcast::Sender::new(capacity.clamp(1, BROADCAST_EVENTS_MAX)));
        self
    }

    /// A new subscriber, if there is a broadcast channel.
    pub fn subscribe(&self) -> Option<EventSubscription> {
        self.broadcast.as_ref().map(broadcast::Sender::subscribe)
    }

    /// Whether there is any observer.
    pub(super) fn any(&self) -> bool {
        !self.callbacks.is_empty() || !self.shared_callbacks.is_empty() || self.listeners().is_some()
    }

    /// Notifies all observers. Allocates only if an observer shares the event.
    pub(super) fn show(&self, event: Event, queue: Option<&EventQueue>) -> NotifyResult {
        let result = self.call(&event);
        let listeners = self.listeners();
        if listeners.is_none() && queue.is_none() && self.shared_callbacks.is_empty() {
            return result;
        }
        let event = Arc::new(event);
        self.shared_callbacks.iter().for_each(|callback| callback(&event));
        if let Some(queue) = queue {
            queue.push(Arc::clone(&event));
        }
        if let Some(listeners) = listeners {
            // Sending fails only if the last listener just left.
            listeners.send(event).ok();
        }
        result
    }

    fn listeners(&self) -> Option<&broadcast::Sender<Arc<Event>>> {
        self.broadcast.as_ref().filter(|channel| channel.receiver_count() > 0)
    }

    fn call(&self, event: &Event) -> NotifyResult {
        let mut result = NotifyResult::Delivered;
        for slot in &self.callbacks {
            if slot.broken.load(Ordering::Relaxed) {
                continue;
            }
            if catch_unwind(AssertUnwindSafe(|| (slot.callback)(event))).is_err() {
                slot.broken.store(true, Ordering::Relaxed);
                result = NotifyResult::CallbackPanicked;
            }
        }
        result
    }
}
