//! Messages: what a model reads and writes, and what an app stores beside it.

mod stored;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content::{Content, ToolCall, text_of};
use crate::id::{RunId, ToolCallId, ToolName};
use crate::stop::StopReason;
use crate::time::Timestamp;
use crate::usage::Usage;

/// A message that a model reads or wrote. JSON: tagged by `role`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(tag = "role", rename_all = "camelCase")]
pub enum Message {
    /// From the user, or injected in the user's name.
    User(UserMessage),
    /// From the model.
    Assistant(AssistantMessage),
    /// The answer to one tool call.
    ToolResult(ToolResultMessage),
}

/// A user message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct UserMessage {
    /// Usually one block of text.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub content: Vec<Content>,
    /// When it was sent.
    pub timestamp: Timestamp,
    /// The actual author.
    #[serde(default, skip_serializing_if = "Author::is_user")]
    pub author: Author,
}

impl UserMessage {
    /// Its first block of text: what was typed, without the files attached to it.
    pub fn first_text(&self) -> &str {
        let mut texts = self.content.iter().filter_map(|block| match block {
            Content::Text { text } => Some(text.as_str()),
            Content::Image { .. } | Content::Thinking { .. } | Content::ToolCall(_) => None,
        });
        texts.next().unwrap_or_default()
    }
}

/// The author of a user message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum Author {
    /// The user, or a program acting for the user.
    #[default]
    User,
    /// The run itself, as a note to the model.
    Runtime,
}

impl Author {
    fn is_user(&self) -> bool {
        matches!(self, Self::User)
    }
}

/// An assistant message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct AssistantMessage {
    /// Text, thinking and tool calls, in the model's order.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub content: Vec<Content>,
    /// Why the model stopped.
    pub stop_reason: StopReason,
    /// The model that answered.
    pub model: String,
    /// The provider it answered through.
    pub provider: String,
    /// Tokens of this answer.
    pub usage: Usage,
    /// When the answer began.
    pub timestamp: Timestamp,
    /// Set when `stop_reason` is `Error` or `Aborted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
}

impl AssistantMessage {
    /// The tool calls of this message, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(|block| match block {
            Content::ToolCall(call) => Some(call),
            Content::Text { .. } | Content::Image { .. } | Content::Thinking { .. } => None,
        })
    }

    /// The text blocks of the message, joined.
    pub fn text(&self) -> String {
        text_of(&self.content)
    }
}

/// The answer to one tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct ToolResultMessage {
    /// The call it answers.
    pub tool_call_id: ToolCallId,
    /// The tool that was called.
    pub tool_name: ToolName,
    /// The content for the model.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub content: Vec<Content>,
    /// Whether the call failed or was refused.
    pub is_error: bool,
    /// When the result arrived.
    pub timestamp: Timestamp,
}

impl Message {
    /// The blocks of the message.
    pub fn content(&self) -> &[Content] {
        match self {
            Self::User(message) => &message.content,
            Self::Assistant(message) => &message.content,
            Self::ToolResult(message) => &message.content,
        }
    }

    /// The text blocks of the message, joined.
    pub fn text(&self) -> String {
        text_of(self.content())
    }

    /// A user message of one block of text.
    pub fn user(text: impl Into<String>, timestamp: Timestamp) -> Self {
        Self::User(UserMessage { content: vec![Content::text(text)], timestamp, author: Author::User })
    }

    /// A note of the run to the model, sent as a user message.
    pub fn note(text: impl Into<String>, timestamp: Timestamp) -> Self {
        Self::User(UserMessage { content: vec![Content::text(text)], timestamp, author: Author::Runtime })
    }
}

/// The turn a message belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct TurnId {
    /// The run.
    #[serde(alias = "loop_id")]
    pub run_id: RunId,
    /// The turn within the run, from 0.
    pub index: u32,
}

/// A model message with the turn that produced it.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct LlmMessage {
    /// The message.
    pub message: Message,
    /// Its turn; absent for messages that came from outside a run.
    pub turn_id: Option<TurnId>,
}

/// Something an app keeps in the conversation that never reaches a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct ExtensionMessage {
    /// The kind of message, chosen by the app.
    pub kind: String,
    /// Data of the app.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::json()"))]
    pub data: Value,
}

/// One entry of a conversation.
///
/// JSON: one object tagged by `role`: `user`, `assistant`, `toolResult` (each with an optional `turn_id`) or `extension`.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub enum AgentMessage {
    /// A message that models read.
    Llm(LlmMessage),
    /// App-only; never sent to a model.
    Extension(ExtensionMessage),
}

impl AgentMessage {
    /// The model message, unless this is an extension.
    pub fn as_llm(&self) -> Option<&Message> {
        match self {
            Self::Llm(llm) => Some(&llm.message),
            Self::Extension(_) => None,
        }
    }

    /// The assistant message, if this is one.
    pub fn as_assistant(&self) -> Option<&AssistantMessage> {
        match self.as_llm() {
            Some(Message::Assistant(message)) => Some(message),
            Some(Message::User(_) | Message::ToolResult(_)) | None => None,
        }
    }

    /// A user message that came from outside a run.
    pub fn user(text: impl Into<String>, timestamp: Timestamp) -> Self {
        Message::user(text, timestamp).into()
    }
}

impl From<Message> for AgentMessage {
    fn from(message: Message) -> Self {
        Self::Llm(LlmMessage { message, turn_id: None })
    }
}
