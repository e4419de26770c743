//! `Client`: how a user interface reaches a session, in this process or over HTTP.

use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;

use crate::answer::BoxFuture;
use crate::command::Command;
use crate::error::ClientError;
use crate::event::Event;

/// The events of a session as they happen.
pub type EventStream = Pin<Box<dyn Stream<Item = Result<Arc<Event>, ClientError>> + Send>>;

/// A connection to one session.
pub trait Client: Send + Sync {
    /// Sends one command; returns once the session has taken it.
    fn send(&self, command: Command) -> BoxFuture<'_, Result<(), ClientError>>;

    /// All durable events after `after_seq` (0 for all), then everything as it happens.
    fn events(&self, after_seq: u64) -> EventStream;
}
