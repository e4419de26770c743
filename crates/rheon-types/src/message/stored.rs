//! The JSON shape of `AgentMessage`: one flat object tagged by `role`.
//!
//! Written out because the shape is stored: deriving it would need `flatten` or `untagged`, which turn a bad record into
//! a vague error.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    AgentMessage, AssistantMessage, Author, ExtensionMessage, LlmMessage, Message, ToolResultMessage, TurnId,
    UserMessage,
};
use crate::content::Content;
use crate::id::{ToolCallId, ToolName};
use crate::stop::StopReason;
use crate::time::Timestamp;
use crate::usage::Usage;

#[derive(Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "camelCase")]
enum Stored<'a> {
    User {
        content: Cow<'a, [Content]>,
        timestamp: Timestamp,
        #[serde(default, skip_serializing_if = "Author::is_user")]
        author: Author,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn_id: Option<Cow<'a, TurnId>>,
    },
    Assistant {
        content: Cow<'a, [Content]>,
        stop_reason: StopReason,
        model: Cow<'a, str>,
        provider: Cow<'a, str>,
        usage: Usage,
        timestamp: Timestamp,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error_message: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn_id: Option<Cow<'a, TurnId>>,
    },
    ToolResult {
        tool_call_id: ToolCallId,
        tool_name: ToolName,
        content: Cow<'a, [Content]>,
        is_error: bool,
        timestamp: Timestamp,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn_id: Option<Cow<'a, TurnId>>,
    },
    Extension(Cow<'a, ExtensionMessage>),
}

impl<'a> From<&'a AgentMessage> for Stored<'a> {
    fn from(message: &'a AgentMessage) -> Self {
        let llm = match message {
            AgentMessage::Llm(llm) => llm,
            AgentMessage::Extension(extension) => return Self::Extension(Cow::Borrowed(extension)),
        };
        let turn_id = llm.turn_id.as_ref().map(Cow::Borrowed);
        match &llm.message {
            Message::User(user) => {
                let (timestamp, author) = (user.timestamp, user.author);
                Self::User { content: Cow::Borrowed(&user.content), timestamp, author, turn_id }
            }
            Message::Assistant(assistant) => Self::Assistant {
                content: Cow::Borrowed(&assistant.content),
                stop_reason: assistant.stop_reason,
                model: Cow::Borrowed(&assistant.model),
                provider: Cow::Borrowed(&assistant.provider),
                usage: assistant.usage,
                timestamp: assistant.timestamp,
                error_message: assistant.error_message.as_deref().map(Cow::Borrowed),
                turn_id,
            },
            Message::ToolResult(result) => Self::ToolResult {
                tool_call_id: result.tool_call_id.clone(),
                tool_name: result.tool_name.clone(),
                content: Cow::Borrowed(&result.content),
                is_error: result.is_error,
                timestamp: result.timestamp,
                turn_id,
            },
        }
    }
}

impl From<Stored<'_>> for AgentMessage {
    fn from(stored: Stored<'_>) -> Self {
        let (message, turn_id) = match stored {
            Stored::User { content, timestamp, author, turn_id } => {
                (Message::User(UserMessage { content: content.into_owned(), timestamp, author }), turn_id)
            }
            Stored::Assistant {
                content,
                stop_reason,
                model,
                provider,
                usage,
                timestamp,
                error_message,
                turn_id,
            } => {
                let message = AssistantMessage {
                    content: content.into_owned(),
                    stop_reason,
                    model: model.into_owned(),
                    provider: provider.into_owned(),
                    usage,
                    timestamp,
                    error_message: error_message.map(Cow::into_owned),
                };
                (Message::Assistant(message), turn_id)
            }
            Stored::ToolResult { tool_call_id, tool_name, content, is_error, timestamp, turn_id } => {
                let content = content.into_owned();
                let message = ToolResultMessage { tool_call_id, tool_name, content, is_error, timestamp };
                (Message::ToolResult(message), turn_id)
            }
            Stored::Extension(extension) => return Self::Extension(extension.into_owned()),
        };
        Self::Llm(LlmMessage { message, turn_id: turn_id.map(Cow::into_owned) })
    }
}

impl Serialize for AgentMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Stored::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AgentMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Stored::deserialize(deserializer).map(Self::from)
    }
}
