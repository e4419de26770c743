//! `Store`: where the log of a session is kept.

use crate::answer::Answer;
use crate::error::StoreError;
use crate::event::Event;

/// Keeps the durable events of a session.
pub trait Store: Send + Sync {
    /// Takes one event, in order. Returns once a crash of the process cannot lose it; must not block for long.
    fn append(&self, event: &Event) -> Result<(), StoreError>;

    /// Returns once a power cut cannot lose what was appended. Awaited before a model reads what a user said, before a
    /// tool runs that changes something, and at the end of a run; begun, but not waited for, before any other model call.
    fn sync(&self) -> Answer<'_, Result<(), StoreError>>;
}
