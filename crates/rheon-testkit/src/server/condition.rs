//! `ReplyCondition`: which requests a reply answers.

use rheon_providers::wire::WireKind;

use super::request_info::RequestInfo;

/// A condition on requests; all set fields must match. The default matches every request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplyCondition {
    /// The wire.
    pub wire: Option<WireKind>,
    /// A text in the body, byte for byte.
    pub contains: Option<String>,
    /// The number of the request, starting at 1, among valid model requests.
    pub request: Option<usize>,
    /// Whether the conversation ends with a tool result.
    pub tool_result: Option<bool>,
    /// Whether the request offers tools.
    pub tools: Option<bool>,
}

impl ReplyCondition {
    /// Requests on this wire.
    pub fn wire(wire: WireKind) -> Self {
        Self { wire: Some(wire), ..Self::default() }
    }

    /// Requests with this text in the body.
    pub fn contains(text: impl Into<String>) -> Self {
        Self { contains: Some(text.into()), ..Self::default() }
    }

    /// The request with this number, starting at 1.
    pub fn request(number: usize) -> Self {
        Self { request: Some(number), ..Self::default() }
    }

    /// Requests that end with a tool result.
    pub fn after_tool_result() -> Self {
        Self { tool_result: Some(true), ..Self::default() }
    }

    /// Requests that offer tools.
    pub fn offers_tools() -> Self {
        Self { tools: Some(true), ..Self::default() }
    }

    /// Whether the condition matches request `number`.
    pub(crate) fn matches(&self, request_info: &RequestInfo, body: &[u8], number: usize) -> bool {
        self.wire.is_none_or(|wire| wire == request_info.wire)
            && self.request.is_none_or(|expected| expected == number)
            && self.tool_result.is_none_or(|expected| expected == request_info.ends_with_tool_result)
            && self.tools.is_none_or(|expected| expected != request_info.tools.is_empty())
            && self.contains.as_ref().is_none_or(|text| holds(body, text.as_bytes()))
    }
}

fn holds(body: &[u8], text: &[u8]) -> bool {
    text.is_empty() || body.windows(text.len()).any(|window| window == text)
}
