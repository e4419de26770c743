//! A conversation as bounded text for a summary, grouped by user request.

use std::fmt::Write as _;

use rheon_types::{Author, Content, History, Message};

/// The maximum size of one message's text.
const TEXT_BYTES_MAX: usize = 6_000;
/// The maximum size of one tool result or of one call's arguments.
const TOOL_BYTES_MAX: usize = 1_200;

/// `messages` as text of about `bytes_max` bytes, shortened in the middle.
pub(crate) fn transcript(messages: &History, bytes_max: usize) -> String {
    let mut text = String::new();
    let mut topic = 0;
    // Writing to a string cannot fail.
    for message in messages.for_model() {
        match message {
            Message::User(user) => {
                let who = match user.author {
                    Author::User => {
                        topic += 1;
                        writeln!(text, "\n## Topic {topic}").ok();
                        "user"
                    }
                    Author::Runtime => "note",
                };
                writeln!(text, "{who}: {}", shortened(&message.text(), TEXT_BYTES_MAX)).ok();
            }
            Message::Assistant(answer) => {
                let answered = answer.text();
                if !answered.trim().is_empty() {
                    writeln!(text, "assistant: {}", shortened(&answered, TEXT_BYTES_MAX)).ok();
                }
                for call in answer.tool_calls() {
                    let arguments = call.arguments.to_string();
                    writeln!(text, "call {}: {}", call.name, shortened(&arguments, TOOL_BYTES_MAX)).ok();
                }
            }
            Message::ToolResult(result) => {
                let error = if result.is_error { " (error)" } else { "" };
                let pictures = result.content.iter().any(|block| matches!(block, Content::Image { .. }));
                let picture = if pictures { " [with an image]" } else { "" };
                let output = shortened(&message.text(), TOOL_BYTES_MAX);
                writeln!(text, "result of {}{error}{picture}: {output}", result.tool_name).ok();
            }
        }
    }
    shortened(&text, bytes_max)
}

/// `text` without its middle, if it is longer than this.
fn shortened(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let half = bytes_max / 2;
    let head = text.get(..text.floor_char_boundary(half)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len() - half)..).unwrap_or_default();
    format!("{head}\n[…]\n{tail}")
}
