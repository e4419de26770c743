//! `Fault`: what can go wrong with a reply.

use std::time::Duration;

use super::refusal::ServiceError;

/// What goes wrong with a reply. Faults of one reply are combined; events count from 1, so "after event 0" means at
/// the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// An error status instead of the response.
    Status {
        /// The HTTP status.
        code: u16,
        /// The body; the service's default for the status if absent.
        body: Option<String>,
        /// Additional headers, for instance `retry-after`.
        headers: Vec<(String, String)>,
    },
    /// An error as the service reports it.
    Refuse(ServiceError),
    /// A redirect (307) to this URL.
    Redirect(String),
    /// Closes the connection without a response.
    Hangup,
    /// Sends nothing until the client disconnects.
    NeverAnswer,
    /// Sends no headers until released.
    StallBeforeHeaders,
    /// Stalls after this event until released.
    StallAfterEvent(usize),
    /// Stalls at this byte until released.
    StallAtByte(usize),
    /// Aborts the connection after this event.
    CutAfterEvent(usize),
    /// Aborts the connection at this byte.
    CutAtByte(usize),
    /// Ends the body cleanly after this event, as if the response were complete.
    EndAfterEvent(usize),
    /// Inserts an event with invalid JSON after this event.
    GarbageAfterEvent(usize),
    /// Inserts raw bytes after an event.
    RawAfterEvent {
        /// The event to insert after.
        event: usize,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Inserts an error in the wire's format and ends the body.
    ErrorAfterEvent {
        /// The event to insert after.
        event: usize,
        /// The error.
        error: ServiceError,
    },
    /// Inserts a text delta of this many bytes.
    HugeEvent {
        /// The event to insert after.
        event: usize,
        /// The size of the text.
        bytes: usize,
    },
    /// Inserts endless text deltas until the client disconnects.
    Endless {
        /// The event to insert after.
        event: usize,
    },
    /// Replaces the content type.
    ContentType(String),
    /// An HTML page with status 200.
    Html,
    /// The service's error body with status 200.
    ErrorBody(ServiceError),
    /// Sends the body in pieces of at most this many bytes.
    Pieces(usize),
    /// Waits for a tick before each piece; pieces are one byte by default.
    Drip(Tick),
    /// Compresses the body.
    Gzip,
    /// A compressed body that expands to a text delta of this many bytes.
    GzipBomb(usize),
}

/// What a slow reply waits for between pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tick {
    /// The test calls [`FakeServer::tick`](super::FakeServer::tick).
    ByTest,
    /// Tokio's clock.
    Every(Duration),
}
