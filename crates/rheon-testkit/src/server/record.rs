//! What the server has seen and done, and how a test waits for more of it.

use bytes::Bytes;
use http::{HeaderMap, Method, Version};
use serde_json::Value;
use tokio::sync::watch;

/// One request as it arrived.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// Its number, from 1.
    pub number: usize,
    /// The number of its connection, from 1.
    pub connection: usize,
    /// The HTTP version it came in.
    pub version: Version,
    /// Its method.
    pub method: Method,
    /// Its path, without the query.
    pub path: String,
    /// Its query, without the question mark; empty if there is none.
    pub query: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
    /// Its body as JSON; `null` if it is none.
    pub json: Value,
}

impl RecordedRequest {
    /// The value of a header, if it is there and text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// How far the answer to one request is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplyProgress {
    /// The status, once one is chosen; 0 before and if there will be none.
    pub status: u16,
    /// What was chosen, for people: `reply 2`, `default`, `refused: ...`.
    pub chosen: String,
    /// How many events have been handed to the transport.
    pub events: usize,
    /// How many bytes of the body have been handed to the transport.
    pub bytes: u64,
    /// Whether the answer waits to be released.
    pub stalled: bool,
    /// How it ended, once it has.
    pub ending: Option<ReplyEnd>,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyEnd {
    /// All of it was handed to the transport.
    Sent,
    /// The client left before.
    Left,
    /// The script aborted it.
    Cut,
}

/// All that the server has seen and done.
#[derive(Debug, Default)]
pub(crate) struct Board {
    /// The requests, in order of arrival.
    pub(crate) requests: Vec<RecordedRequest>,
    /// How far their answers are.
    pub(crate) progress: Vec<ReplyProgress>,
    /// How many connections were accepted.
    pub(crate) connections: usize,
    /// How many of them are closed again.
    pub(crate) closed: usize,
    /// How many times stalled answers were released.
    pub(crate) releases: usize,
}

/// The board, and who waits for it to change.
#[derive(Debug)]
pub(crate) struct Records {
    board: watch::Sender<Board>,
}

impl Default for Records {
    fn default() -> Self {
        Self { board: watch::Sender::new(Board::default()) }
    }
}

impl Records {
    /// What `read` finds on the board.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Board) -> T) -> T {
        read(&self.board.borrow())
    }

    /// Changes the board and wakes all who wait.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Board)) {
        self.board.send_modify(change);
    }

    /// Changes how far the answer to request `number` is.
    pub(crate) fn progress(&self, number: usize, change: impl FnOnce(&mut ReplyProgress)) {
        self.board.send_modify(|board| {
            if let Some(progress) = number.checked_sub(1).and_then(|place| board.progress.get_mut(place)) {
                change(progress);
            }
        });
    }

    /// Waits until `find` finds something on the board.
    pub(crate) async fn wait<T>(&self, mut find: impl FnMut(&Board) -> Option<T>) -> T {
        let mut receiver = self.board.subscribe();
        loop {
            if let Some(found) = find(&receiver.borrow_and_update()) {
                return found;
            }
            if receiver.changed().await.is_err() {
                // The sender lives in `self`, so this cannot happen; waiting is what a caller expects of it.
                std::future::pending::<()>().await;
            }
        }
    }
}
