//! `Contents`: message and tool contents in spans. Exported only if an environment variable asks for it.

use rheon_types::{AgentMessage, Content, Message, ToolCall};
use serde_json::{Value, json};

use super::span::{Attribute, Known};
use crate::observe::log::Redactor;
use crate::sessions::EnvVars;

const VARIABLE: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// The most characters of one text.
const TEXT_CHARS_MAX: usize = 4096;
/// The most bytes of one attribute; the latest messages take precedence.
const ATTRIBUTE_BYTES_MAX: usize = 16 * 1024;

/// Whether the content of messages and results is exported.
pub(in crate::observe) enum Contents {
    Left,
    /// Yes, with known secrets redacted.
    Captured(Redactor),
}

impl Contents {
    /// Parses the environment variable: `true`, or one of the words for spans. Anything else means no.
    pub(in crate::observe) fn asked_for(environment: &EnvVars, redactor: impl FnOnce() -> Redactor) -> Self {
        let value = environment.text(VARIABLE).map(|value| value.trim().to_ascii_lowercase());
        match value.as_deref() {
            Some("true" | "span_only" | "span_and_event") => Self::Captured(redactor()),
            Some(_) | None => Self::Left,
        }
    }

    /// A message in the form of the conventions; none, if it is not exported.
    pub(super) fn message(&self, message: &AgentMessage) -> Option<Value> {
        let Self::Captured(redactor) = self else { return None };
        let part = |content: &Content| part(redactor, content);
        Some(match message.as_llm()? {
            Message::User(message) => {
                json!({ "role": "user", "parts": message.content.iter().map(part).collect::<Vec<_>>() })
            }
            Message::Assistant(message) => {
                json!({ "role": "assistant", "parts": message.content.iter().map(part).collect::<Vec<_>>() })
            }
            Message::ToolResult(result) => {
                let response = shown(redactor, &text_of(&result.content));
                let id = result.tool_call_id.as_str();
                let part = json!({ "type": "tool_call_response", "id": id, "response": response });
                json!({ "role": "tool", "parts": [part] })
            }
        })
    }

    /// The arguments of a tool call.
    pub(super) fn arguments(&self, arguments: &Value) -> Option<Attribute> {
        self.text("gen_ai.tool.call.arguments", &arguments.to_string())
    }

    /// The result of a tool.
    pub(super) fn result(&self, content: &[Content]) -> Option<Attribute> {
        self.text("gen_ai.tool.call.result", &text_of(content))
    }

    fn text(&self, name: &str, text: &str) -> Option<Attribute> {
        let Self::Captured(redactor) = self else { return None };
        Some(Attribute { name: name.into(), value: Known::Text(shown(redactor, text)) })
    }
}

/// Messages as the text of an attribute; none without messages.
pub(super) fn messages(name: &str, messages: &[Value]) -> Option<Attribute> {
    let mut bytes = 0;
    let fits = |text: &String| {
        bytes += text.len();
        bytes <= ATTRIBUTE_BYTES_MAX
    };
    let mut latest: Vec<String> = messages.iter().rev().map(Value::to_string).take_while(fits).collect();
    latest.reverse();
    let value = Known::Text(format!("[{}]", latest.join(",")));
    (!latest.is_empty()).then(|| Attribute { name: name.into(), value })
}

fn part(redactor: &Redactor, content: &Content) -> Value {
    match content {
        Content::Text { text } => json!({ "type": "text", "content": shown(redactor, text) }),
        Content::Thinking { thinking, .. } => {
            json!({ "type": "reasoning", "content": shown(redactor, thinking) })
        }
        // Images are too large to export.
        Content::Image { mime_type, .. } => json!({ "type": "image", "mime_type": mime_type }),
        Content::ToolCall(ToolCall { id, name, arguments, .. }) => {
            let (id, name) = (id.as_str(), name.as_str());
            let arguments = shown(redactor, &arguments.to_string());
            // Truncated JSON would be invalid.
            let arguments = serde_json::from_str(&arguments).unwrap_or(Value::String(arguments));
            json!({ "type": "tool_call", "id": id, "name": name, "arguments": arguments })
        }
    }
}

fn text_of(content: &[Content]) -> String {
    let text = |block: &Content| match block {
        Content::Text { text } => Some(text.clone()),
        Content::Image { .. } | Content::Thinking { .. } | Content::ToolCall(_) => None,
    };
    content.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

/// A text with secrets redacted, truncated if necessary.
fn shown(redactor: &Redactor, text: &str) -> String {
    let text = redactor.line(text);
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{} (shortened)", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
#[path = "contents_tests.rs"]
mod tests;
