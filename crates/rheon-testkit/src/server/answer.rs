//! `Answer`: a service's response, ready to be rendered.

use rheon_providers::wire::WireKind;

use super::reply::{ReplyBlock, ReplyStop, ReplyStyle, UsageReport};
use super::request_info::RequestInfo;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer<'a> {
    /// The number of the request, from which ids are derived.
    pub(crate) number: usize,
    /// The validated request.
    pub(crate) request_info: &'a RequestInfo,
    /// The content blocks; without `AnyCall`.
    pub(crate) blocks: Vec<ReplyBlock>,
    /// The reported usage.
    pub(crate) usage: UsageReport,
    /// The stop reason; never `Natural`.
    pub(crate) stop: ReplyStop,
    pub(crate) style: ReplyStyle,
}

impl Answer<'_> {
    /// An id for the block at `index`.
    pub(crate) fn id(&self, prefix: &str, index: usize) -> String {
        format!("{prefix}{:04}{index:02}", self.number)
    }

    /// The default id of the call at `index`.
    pub(crate) fn call_id(&self, index: usize) -> String {
        let prefix = match self.request_info.wire {
            WireKind::Anthropic => "toolu_01",
            WireKind::Chat | WireKind::Responses | WireKind::Gemini => "call_",
            WireKind::Bedrock => "tooluse_",
        };
        self.id(prefix, index)
    }
}
