//! The server's log, and how a test waits for changes.

use bytes::Bytes;
use http::{HeaderMap, Method, Version};
use serde_json::Value;
use tokio::sync::watch;

/// A recorded request.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// The number, starting at 1.
    pub number: usize,
    /// The number of the connection, starting at 1.
    pub connection: usize,
    /// The HTTP version.
    pub version: Version,
    /// The HTTP method.
    pub method: Method,
    /// The path, without the query.
    pub path: String,
    /// The query, without the question mark; may be empty.
    pub query: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// The body as JSON; `null` if it is not JSON.
    pub json: Value,
}

impl RecordedRequest {
    /// The value of a header, if present and text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// The progress of one response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplyProgress {
    /// The status once chosen; 0 before, and if there is none.
    pub status: u16,
    /// A description of the reply: `reply 2`, `default`, `refused: ...`.
    pub chosen: String,
    /// The number of events passed to the transport.
    pub events: usize,
    /// The number of body bytes passed to the transport.
    pub bytes: u64,
    /// Whether the response waits to be released.
    pub stalled: bool,
    /// How it ended, once it has.
    pub ending: Option<ReplyEnd>,
}

/// How a response ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyEnd {
    /// Everything was passed to the transport.
    Sent,
    /// The client disconnected first.
    Disconnected,
    /// The script aborted it.
    Cut,
}

/// Everything that the server has received and sent.
#[derive(Debug, Default)]
pub(crate) struct ServerLog {
    /// In order of arrival.
    pub(crate) requests: Vec<RecordedRequest>,
    /// The progress of their responses.
    pub(crate) progress: Vec<ReplyProgress>,
    /// Accepted connections.
    pub(crate) connections: usize,
    /// Closed connections.
    pub(crate) closed: usize,
    /// How many times stalled responses were released.
    pub(crate) releases: usize,
}

/// The log, with notification of changes.
#[derive(Debug)]
pub(crate) struct Records {
    log: watch::Sender<ServerLog>,
}

impl Default for Records {
    fn default() -> Self {
        Self { log: watch::Sender::new(ServerLog::default()) }
    }
}

impl Records {
    /// Reads from the log.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&ServerLog) -> T) -> T {
        read(&self.log.borrow())
    }

    /// Changes the log and wakes all waiters.
    pub(crate) fn change(&self, change: impl FnOnce(&mut ServerLog)) {
        self.log.send_modify(change);
    }

    /// Changes the progress of the response to request `number`.
    pub(crate) fn progress(&self, number: usize, change: impl FnOnce(&mut ReplyProgress)) {
        self.log.send_modify(|log| {
            if let Some(progress) = number.checked_sub(1).and_then(|index| log.progress.get_mut(index)) {
                change(progress);
            }
        });
    }

    /// Waits until `find` returns a value.
    pub(crate) async fn wait<T>(&self, mut find: impl FnMut(&ServerLog) -> Option<T>) -> T {
        let mut receiver = self.log.subscribe();
        loop {
            if let Some(found) = find(&receiver.borrow_and_update()) {
                return found;
            }
            if receiver.changed().await.is_err() {
                // Cannot happen: `self` holds the sender. Waiting is what the caller expects.
                std::future::pending::<()>().await;
            }
        }
    }
}
