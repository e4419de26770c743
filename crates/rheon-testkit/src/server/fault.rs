//! `Fault`: what can go wrong with an answer.

use std::time::Duration;

use super::refusal::ServiceError;

/// What goes wrong with an answer. Faults of one reply add up; events count from 1, so "after event 0" is at the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A refusal instead of the answer.
    Status {
        /// The HTTP status.
        code: u16,
        /// The body; what the service has for the status if absent.
        body: Option<String>,
        /// More headers, for instance `retry-after`.
        headers: Vec<(String, String)>,
    },
    /// A refusal as the service words it.
    Refuse(ServiceError),
    /// A redirect (307) to this address.
    Redirect(String),
    /// The connection is closed before any answer.
    Hangup,
    /// No answer until the client leaves.
    NeverAnswer,
    /// No headers until released.
    StallBeforeHeaders,
    /// Nothing more behind this event until released.
    StallAfterEvent(usize),
    /// Nothing more from this byte on until released.
    StallAtByte(usize),
    /// The connection is aborted behind this event.
    CutAfterEvent(usize),
    /// The connection is aborted at this byte.
    CutAtByte(usize),
    /// The body ends in good order behind this event, as if the answer were whole.
    EndAfterEvent(usize),
    /// An event that is no JSON, behind this event.
    GarbageAfterEvent(usize),
    /// Raw bytes between events, behind this event.
    RawAfterEvent {
        /// Behind which event.
        event: usize,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// An error in the form of the wire, behind this event; the body ends with it.
    ErrorAfterEvent {
        /// Behind which event.
        event: usize,
        /// Which one.
        error: ServiceError,
    },
    /// A text delta of so many bytes, behind this event.
    HugeEvent {
        /// Behind which event.
        event: usize,
        /// How many bytes its text has.
        bytes: usize,
    },
    /// Text deltas without end, behind this event, until the client leaves.
    Endless {
        /// Behind which event.
        event: usize,
    },
    /// Another content type than the wire's own.
    ContentType(String),
    /// A page for people with status 200.
    Html,
    /// The service's error body with status 200.
    ErrorBody(ServiceError),
    /// The body goes out in pieces of at most so many bytes.
    Pieces(usize),
    /// Each piece waits for a tick; pieces are of one byte unless said otherwise.
    Drip(Tick),
    /// The body is compressed.
    Gzip,
    /// A compressed body that unpacks to so many bytes of one text delta.
    GzipBomb(usize),
}

/// What a slow answer waits for between pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tick {
    /// The test, which calls [`FakeServer::tick`](super::FakeServer::tick).
    ByTest,
    /// Tokio's time.
    Every(Duration),
}
