//! `ReplyCondition`: which requests a reply means.

use rheon_providers::wire::WireKind;

use super::asked::Asked;

/// A condition on requests; all that is set must hold. The default fits every request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplyCondition {
    /// The wire.
    pub wire: Option<WireKind>,
    /// A text in the body, byte for byte as it was sent.
    pub contains: Option<String>,
    /// The number of the request, from 1, among those that asked a model and broke no rule.
    pub request: Option<usize>,
    /// Whether the conversation ends with the result of a tool.
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

    /// The request with this number, from 1.
    pub fn request(number: usize) -> Self {
        Self { request: Some(number), ..Self::default() }
    }

    /// Requests that end with the result of a tool.
    pub fn after_tool_result() -> Self {
        Self { tool_result: Some(true), ..Self::default() }
    }

    /// Requests that offer tools.
    pub fn offers_tools() -> Self {
        Self { tools: Some(true), ..Self::default() }
    }

    /// Whether the request `number` is meant.
    pub(crate) fn fits(&self, asked: &Asked, body: &[u8], number: usize) -> bool {
        self.wire.is_none_or(|wire| wire == asked.wire)
            && self.request.is_none_or(|wanted| wanted == number)
            && self.tool_result.is_none_or(|wanted| wanted == asked.ends_with_tool_result)
            && self.tools.is_none_or(|wanted| wanted != asked.tools.is_empty())
            && self.contains.as_ref().is_none_or(|text| holds(body, text.as_bytes()))
    }
}

fn holds(body: &[u8], text: &[u8]) -> bool {
    text.is_empty() || body.windows(text.len()).any(|window| window == text)
}
