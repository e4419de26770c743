//! How far the children of a session are, and what a subscriber has been shown of them.

use std::collections::HashMap;

use rheon_types::SessionId;
use rheon_types::protocol::Cursor;

/// The progress of a running child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChildPlace {
    /// The number of the last event before the first that it showed: a session that was resumed does not begin at 0.
    pub(super) before: u64,
    /// The number of its last durable event.
    pub(super) seq: u64,
}

/// The children of a session that run, by their sessions.
pub(super) type ChildPlaces = HashMap<SessionId, ChildPlace>;

/// What a subscriber has been shown of one child.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ChildCursor {
    pub(super) cursor: Cursor,
    /// Whether deltas of the message that it is writing passed unseen. No more of them are shown: the rest comes as one, before the end
    /// of the message.
    pub(super) has_missed: bool,
    /// Whether its end was shown, or that it cannot be.
    pub(super) has_ended: bool,
}
