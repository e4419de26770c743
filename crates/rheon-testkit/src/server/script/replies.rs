//! `Script`: which reply answers which request.

use crate::server::reply::FakeReply;
use crate::server::rules::RequestRules;

/// Replies in order, and one for all other requests.
///
/// A request gets the first reply that is not used up and whose condition matches; a reply with a condition is not
/// used up by other requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// The replies, in order of priority.
    pub replies: Vec<FakeReply>,
    /// The reply if no other matches.
    pub default: FakeReply,
    /// How requests are validated.
    pub rules: RequestRules,
    /// The context window that the server reports.
    pub context_tokens: u64,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            replies: Vec::new(),
            default: FakeReply::text("ok"),
            rules: RequestRules::default(),
            context_tokens: 32_768,
        }
    }
}

impl From<FakeReply> for Script {
    fn from(reply: FakeReply) -> Self {
        Self::new([reply])
    }
}

impl<const N: usize> From<[FakeReply; N]> for Script {
    fn from(replies: [FakeReply; N]) -> Self {
        Self::new(replies)
    }
}

impl From<Vec<FakeReply>> for Script {
    fn from(replies: Vec<FakeReply>) -> Self {
        Self::new(replies)
    }
}

impl Script {
    /// These replies, then always "ok".
    pub fn new(replies: impl IntoIterator<Item = FakeReply>) -> Self {
        Self { replies: replies.into_iter().collect(), ..Self::default() }
    }

    /// This reply to every request.
    pub fn always(reply: FakeReply) -> Self {
        Self { default: reply, ..Self::default() }
    }

    /// Sets the reply if no other matches.
    #[must_use]
    pub fn otherwise(mut self, reply: FakeReply) -> Self {
        self.default = reply;
        self
    }

    /// Sets how requests are validated.
    #[must_use]
    pub fn rules(mut self, rules: RequestRules) -> Self {
        self.rules = rules;
        self
    }
}
