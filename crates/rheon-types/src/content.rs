//! The blocks a message is made of.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{ToolCallId, ToolName};
use crate::key_order::{KeyOrder, OrderedJson};

/// One block of a message. JSON: tagged by `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Content {
    /// Text, to or from the model.
    Text {
        /// The text itself.
        text: String,
    },
    /// An image.
    Image {
        /// The bytes, base64.
        data: String,
        /// For instance `image/png`.
        mime_type: String,
    },
    /// The model's reasoning.
    Thinking {
        /// The text; may be empty if the service hides it.
        thinking: String,
        /// A signature to send back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<Signature>,
    },
    /// A request to run a tool.
    ToolCall(ToolCall),
}

impl Content {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// The size of its text or image in bytes; 0 for a tool call.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text { text } => text.len(),
            Self::Image { data, .. } => data.len(),
            Self::Thinking { thinking, .. } => thinking.len(),
            Self::ToolCall(_) => 0,
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// An opaque value that a service wants back unchanged with the model's reasoning. Only the model that wrote it can use
/// it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct Signature {
    /// The service's own text, byte for byte.
    pub data: String,
    /// The kind of signature.
    #[serde(default, skip_serializing_if = "SignatureKind::is_proof")]
    pub kind: SignatureKind,
    /// The service's id for the block, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The provider and model that can read it, as `vendor/model`.
    pub origin: String,
}

/// The purpose of a signature.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum SignatureKind {
    /// Authenticates the thinking in its block.
    #[default]
    Proof,
    /// Contains the thinking in encrypted form; its block has no text.
    Redacted,
    /// Belongs to the block that follows, a text or a tool call; its block has no text.
    Next,
}

impl SignatureKind {
    fn is_proof(&self) -> bool {
        matches!(self, Self::Proof)
    }
}

/// One request by the model to run a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct ToolCall {
    /// Links the result to the call; unique within a run.
    pub id: ToolCallId,
    /// Which tool.
    pub name: ToolName,
    /// The arguments: always a JSON object.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::shared_json()"))]
    pub arguments: Arc<Value>,
    /// Why the arguments are invalid (not JSON, not an object, cut off), with their text. Such a call gets an error and
    /// never runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
    /// The order in which the model wrote the keys of the arguments, where they are not sorted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, proptest(value = "None"))]
    pub key_order: Option<Arc<KeyOrder>>,
}

impl ToolCall {
    /// The arguments as the model wrote them, for services that compare texts.
    pub fn ordered_arguments(&self) -> OrderedJson<'_> {
        OrderedJson { value: &self.arguments, order: self.key_order.as_deref() }
    }
}

/// Joins the text blocks of `content` with line breaks.
pub(crate) fn text_of(content: &[Content]) -> String {
    let mut joined = String::new();
    for block in content {
        match block {
            Content::Text { text } => {
                if !joined.is_empty() {
                    joined.push('\n');
                }
                joined.push_str(text);
            }
            Content::Image { .. } | Content::Thinking { .. } | Content::ToolCall(_) => {}
        }
    }
    joined
}
