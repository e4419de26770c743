//! `Store`: saves the log of a session.

use crate::answer::Answer;
use crate::error::StoreError;
use crate::event::Event;

/// Saves the durable events of a session.
pub trait Store: Send + Sync {
    /// Appends one event, in order. After it returns, a crash of the process cannot lose the event. Must not block for
    /// long.
    fn append(&self, event: &Event) -> Result<(), StoreError>;

    /// Makes appended events safe against power loss. Awaited before the model reads a user message, before a tool with
    /// side effects runs, and at the end of a run. Started without waiting before any other model call.
    fn sync(&self) -> Answer<'_, Result<(), StoreError>>;
}
