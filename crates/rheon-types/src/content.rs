//! The blocks a message is made of.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{ToolCallId, ToolName};

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
    /// A picture.
    Image {
        /// The bytes, base64.
        data: String,
        /// For instance `image/png`.
        mime_type: String,
    },
    /// The model's reasoning.
    Thinking {
        /// What it thought; may be empty where the service hides it.
        thinking: String,
        /// What the service wants back with it.
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

    /// How many bytes its text or picture has; a tool call counts nothing.
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

/// What a service wants back unchanged with the model's reasoning. Means something only to the model that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct Signature {
    /// The service's own text, byte for byte.
    pub data: String,
    /// What it stands for.
    #[serde(default, skip_serializing_if = "SignatureKind::is_proof")]
    pub kind: SignatureKind,
    /// The service's name for the block, where it gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The provider and model that can read it, as `vendor/model`.
    pub origin: String,
}

/// What a signature stands for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum SignatureKind {
    /// Proves the thinking of its own block.
    #[default]
    Proof,
    /// Is itself the thinking, unreadable; its block has no text.
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
    /// Matches the result to the call; unique within a run.
    pub id: ToolCallId,
    /// Which tool.
    pub name: ToolName,
    /// The arguments: always a JSON object.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::shared_json()"))]
    pub arguments: Arc<Value>,
    /// What is wrong with the arguments as the model wrote them (not JSON, not an object, cut off), with their text.
    /// Such a call is answered, never run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
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
