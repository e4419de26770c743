//! `Prompt`: the input to an agent.

use rheon_types::{AgentMessage, Author, Content, ExtensionMessage, Message, Timestamp, UserMessage};

/// The input to an agent: text, content blocks or whole messages.
#[derive(Debug, Clone, Default)]
pub struct Prompt {
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
enum Part {
    Content(Vec<Content>),
    Message(AgentMessage),
}

impl Prompt {
    /// The messages; those without a time get `now`.
    pub(crate) fn into_messages(self, now: Timestamp) -> Vec<AgentMessage> {
        let into_message = |part| match part {
            Part::Content(content) => {
                Message::User(UserMessage { content, timestamp: now, author: Author::User }).into()
            }
            Part::Message(message) => message,
        };
        self.parts.into_iter().map(into_message).collect()
    }

    /// Whether all messages are the user's.
    pub(crate) fn is_from_user(&self) -> bool {
        self.parts.iter().all(|part| match part {
            Part::Content(_) | Part::Message(AgentMessage::Extension(_)) => true,
            Part::Message(AgentMessage::Llm(llm)) => matches!(llm.message, Message::User(_)),
        })
    }

    /// Whether all messages are empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| match part {
            Part::Content(content) => is_empty_content(content),
            Part::Message(AgentMessage::Llm(llm)) => is_empty_content(llm.message.content()),
            Part::Message(AgentMessage::Extension(_)) => true,
        })
    }
}

/// Whether a message to the model is empty. Extension messages are never blank.
pub(crate) fn is_blank(message: &AgentMessage) -> bool {
    message.as_llm().is_some_and(|message| is_empty_content(message.content()))
}

fn is_empty_content(content: &[Content]) -> bool {
    content.iter().all(|block| match block {
        Content::Text { text } => text.is_empty(),
        Content::Image { .. } | Content::Thinking { .. } | Content::ToolCall(_) => false,
    })
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        vec![Content::text(text)].into()
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        vec![Content::Text { text }].into()
    }
}

impl From<Vec<Content>> for Prompt {
    fn from(content: Vec<Content>) -> Self {
        Self { parts: vec![Part::Content(content)] }
    }
}

impl From<Message> for Prompt {
    fn from(message: Message) -> Self {
        vec![AgentMessage::from(message)].into()
    }
}

impl From<ExtensionMessage> for Prompt {
    fn from(message: ExtensionMessage) -> Self {
        vec![AgentMessage::Extension(message)].into()
    }
}

impl From<Vec<AgentMessage>> for Prompt {
    fn from(messages: Vec<AgentMessage>) -> Self {
        Self { parts: messages.into_iter().map(Part::Message).collect() }
    }
}
