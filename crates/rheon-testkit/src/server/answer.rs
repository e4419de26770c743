//! `Answer`: what a service says to one request, ready to be written.

use rheon_providers::wire::WireKind;

use super::asked::Asked;
use super::reply::{ReplyBlock, ReplyStop, ReplyStyle, UsageReport};

/// An answer, ready to be written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer<'a> {
    /// The number of the request, from which ids are made.
    pub(crate) number: usize,
    /// What was asked.
    pub(crate) asked: &'a Asked,
    /// What the model says; no `AnyCall` among it.
    pub(crate) blocks: Vec<ReplyBlock>,
    /// What the service says that it used.
    pub(crate) usage: UsageReport,
    /// Why the model stopped; never `Natural`.
    pub(crate) stop: ReplyStop,
    /// How it is written.
    pub(crate) style: ReplyStyle,
}

impl Answer<'_> {
    /// An id for the block at `place`.
    pub(crate) fn id(&self, prefix: &str, place: usize) -> String {
        format!("{prefix}{:04}{place:02}", self.number)
    }

    /// The id of the call at `place`, unless the script gives one.
    pub(crate) fn call_id(&self, place: usize) -> String {
        let prefix = match self.asked.wire {
            WireKind::Anthropic => "toolu_01",
            WireKind::Chat | WireKind::Responses | WireKind::Gemini => "call_",
            WireKind::Bedrock => "tooluse_",
        };
        self.id(prefix, place)
    }
}
