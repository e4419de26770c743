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

/// The events of a session as they happen. An error ends it.
pub type EventStream = Pin<Box<dyn Stream<Item = Result<Arc<Event>, ClientError>> + Send>>;

/// The place where sessions live.
pub trait Host: Send + Sync {
    /// Opens a session. It lives until it is closed by a command, or until the last client is gone.
    fn open(&self, request: OpenRequest) -> BoxFuture<'_, Result<Arc<dyn Client>, ClientError>>;

    /// Answers a question that concerns no open session.
    fn query(&self, query: HostQuery) -> BoxFuture<'_, Result<HostReply, ClientError>>;

    /// Changes something that concerns no open session.
    fn send(&self, command: HostCommand) -> BoxFuture<'_, Result<HostReply, ClientError>>;
}

/// A connection to one session.
pub trait Client: Send + Sync {
    /// Sends a command; returns once the session has taken it.
    fn send(&self, command: Command) -> BoxFuture<'_, Result<Ack, ClientError>>;

    /// Answers a question about the session. May be asked at any moment.
    fn query(&self, query: Query) -> BoxFuture<'_, Result<Reply, ClientError>>;

    /// Subscribes to the events of the session, those of its children included.
    fn events(&self, subscription: Subscription) -> EventStream;
}
