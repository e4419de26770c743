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
        /// The service's proof of it, to be sent back unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
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
