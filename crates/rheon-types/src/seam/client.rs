//! `Host` and `Client`: how a user interface reaches sessions, in this process, over a pipe or over HTTP.

use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;

use crate::answer::BoxFuture;
use crate::error::ClientError;
use crate::event::Event;
use crate::protocol::{
    Ack, Command, HostCommand, HostQuery, HostReply, OpenRequest, Query, Reply, Subscription,
};

/// A session's events as they happen. The stream ends after an error.
pub type EventStream = Pin<Box<dyn Stream<Item = Result<Arc<Event>, ClientError>> + Send>>;

/// Opens and manages sessions.
pub trait Host: Send + Sync {
    /// Opens a session. It stays open until a command closes it or the last client disconnects.
    fn open(&self, request: OpenRequest) -> BoxFuture<'_, Result<Arc<dyn Client>, ClientError>>;

    /// Answers a query that is not about an open session.
    fn query(&self, query: HostQuery) -> BoxFuture<'_, Result<HostReply, ClientError>>;

    /// Runs a command that is not about an open session.
    fn send(&self, command: HostCommand) -> BoxFuture<'_, Result<HostReply, ClientError>>;
}

/// A connection to one session.
pub trait Client: Send + Sync {
    /// Sends a command. Returns once the session has accepted it.
    fn send(&self, command: Command) -> BoxFuture<'_, Result<Ack, ClientError>>;

    /// Answers a query about the session, at any time.
    fn query(&self, query: Query) -> BoxFuture<'_, Result<Reply, ClientError>>;

    /// Subscribes to the session's events, including those of its children.
    fn events(&self, subscription: Subscription) -> EventStream;
}
