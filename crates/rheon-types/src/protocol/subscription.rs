//! `Subscription`: how an interface wants to see the events of a session.

use serde::{Deserialize, Serialize};

/// How an interface wants to see the events of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct Subscription {
    /// Where to begin.
    pub after: After,
    /// What happens when the interface reads more slowly than events come.
    #[serde(default)]
    pub delivery: Delivery,
    /// Whether the interface answers approvals and questions. While no subscriber does, whatever would ask is denied.
    #[serde(default)]
    pub answers: bool,
}

impl Subscription {
    /// Everything after the durable event `seq` (0 for all), then everything as it happens.
    pub fn after(seq: u64) -> Self {
        Self::from_cursor(Cursor { seq, ..Cursor::default() })
    }

    /// Everything after `cursor`, for instance that of a snapshot.
    pub fn from_cursor(cursor: Cursor) -> Self {
        Self { after: After::Cursor(cursor), delivery: Delivery::Block, answers: false }
    }

    /// Everything that happens from now on.
    pub fn from_now() -> Self {
        Self { after: After::Now, delivery: Delivery::Block, answers: false }
    }

    /// The same, by an interface that answers approvals and questions.
    pub fn answering(mut self) -> Self {
        self.answers = true;
        self
    }

    /// The same, cut off instead of served from the log when it falls behind.
    pub fn cut_off(mut self) -> Self {
        self.delivery = Delivery::CutOff;
        self
    }
}

/// Where a subscription begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum After {
    /// After what the interface has seen already.
    Cursor(Cursor),
    /// With the next event that happens.
    Now,
}

/// How much of a session an interface has seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct Cursor {
    /// The last durable event.
    pub seq: u64,
    /// How many bytes of text of the message that is being written at that event.
    #[serde(default)]
    pub text_bytes: u64,
    /// How many bytes of its thinking.
    #[serde(default)]
    pub thinking_bytes: u64,
}

/// What happens to a subscriber that falls behind. Neither kind ever stops the run or another subscriber, and for both the
/// deltas of a message add up to its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum Delivery {
    /// It gets every durable event: what it missed is read from the log, with the deltas of a message as one. Where the log does not have
    /// it, its stream ends with [`ClientError::Lost`](crate::ClientError).
    #[default]
    Block,
    /// Its stream ends with [`ClientError::CutOff`](crate::ClientError), which says where to subscribe again.
    CutOff,
}
