//! Converts a request with tools into one without: tools go into the prompt, calls and results become text.

use std::fmt::Display;
use std::sync::Arc;

use rheon_types::{
    AgentMessage, AssistantMessage, Author, Content, History, Message, Request, StopReason, SystemPrompt,
    SystemSection, Timestamp, ToolChoice, ToolDefinition, Usage, UserMessage,
};
use serde_json::Value;

use super::schema::{ANSWER, ARGUMENTS, Alternatives, NAME};
use crate::call_id::CallIdRule;
use crate::history::{
    Block, HistoryRules, ImageSupport, PreparedHistory, PreparedResult, ResultBlock, Role, ThinkingFilter,
};
use crate::tool_name::ToolNameRule;

/// The maximum length of a tool description.
const DESCRIPTION_CHARS_MAX: usize = 2_000;
/// A larger schema is shown without descriptions, and not at all if that is not enough.
const SCHEMA_BYTES_MAX: usize = 4 * 1024;

/// The instructions on how to call tools.
const TOOLS_TEXT: &str = include_str!("tools.md");

/// `request` without tools, and the tools that the response may call.
pub(super) fn lower(request: &Request) -> (Request, Arc<[ToolDefinition]>) {
    let alternatives = Alternatives::of(request);
    let schema = alternatives.schema(request.output_schema.as_deref());
    let offered = alternatives.tools.iter().map(|tool| (*tool).clone()).collect();
    let lowered = Request {
        system: with_section(&request.system, tools_section(&request.tools)),
        // The reminder stays part of this request only.
        messages: lower_messages(&Request { reminder: None, ..request.clone() }),
        tools: Arc::from([]),
        tool_choice: ToolChoice::Auto,
        output_schema: Some(Arc::new(schema)),
        ..request.clone()
    };
    (lowered, offered)
}

/// Inserts the section after the last stable one: the tools do not change from request to request.
fn with_section(system: &SystemPrompt, text: String) -> SystemPrompt {
    let mut sections: Vec<SystemSection> = system.sections().cloned().collect();
    let at = sections.iter().rposition(|section| section.stable).map_or(0, |last| last + 1);
    sections.insert(at, SystemSection { text: text.into(), stable: true });
    sections.into_iter().collect()
}

fn tools_section(tools: &[ToolDefinition]) -> String {
    let described: Vec<String> = tools.iter().map(describe).collect();
    let city = Value::Object([("city".to_owned(), "Rome".into())].into_iter().collect());
    // Fill in the tools last, so that their text is not searched for placeholders.
    TOOLS_TEXT
        .trim_end()
        .replace(
            "{{call_form}}",
            &format!("{{\"{NAME}\": \"<tool>\", \"{ARGUMENTS}\": {{\"<key>\": <value>}}}}"),
        )
        .replace("{{answer_form}}", &format!("{{\"{ANSWER}\": \"<text>\"}}"))
        .replace("{{example_call}}", &call_text("clock", &city))
        .replace("{{example_answer}}", &answer_text("It is 14:05 in Rome.", AnswerForm::Text))
        .replace("{{tools}}", &described.join("\n\n"))
}

fn describe(tool: &ToolDefinition) -> String {
    let mut description: String = tool.description.trim().chars().take(DESCRIPTION_CHARS_MAX).collect();
    if description.len() < tool.description.trim().len() {
        description.push_str(" ...");
    }
    let mut schema = tool.parameters.to_string();
    if schema.len() > SCHEMA_BYTES_MAX {
        let mut bare = tool.parameters.clone();
        strip_descriptions(&mut bare);
        schema = bare.to_string();
    }
    if schema.len() > SCHEMA_BYTES_MAX {
        schema = "{\"type\":\"object\"}".to_owned();
    }
    format!("## {}\n{description}\n{schema}", tool.name)
}

/// A property named `description` is an object and stays.
fn strip_descriptions(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.retain(|key, value| key != "description" || !value.is_string());
            fields.values_mut().for_each(strip_descriptions);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_descriptions),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn lower_messages(request: &Request) -> History {
    let rules = HistoryRules {
        origin: "",
        call_id: CallIdRule::Any,
        alternate: true,
        tool_name: ToolNameRule::Any,
        image_support: ImageSupport::Any,
        thinking: ThinkingFilter::NoModel,
    };
    let form = if request.output_schema.is_some() { AnswerForm::Json } else { AnswerForm::Text };
    let history = PreparedHistory::new(request, rules);
    let messages = history.messages().map(|(role, blocks)| match role {
        Role::Assistant => assistant(blocks, form),
        Role::User | Role::Tool => user(blocks),
    });
    messages.map(|message| Arc::new(AgentMessage::from(message))).collect()
}

fn user(blocks: &[Block<'_>]) -> Message {
    let mut content = Vec::new();
    for block in blocks {
        match block {
            Block::Text(text) => push_text(&mut content, text),
            Block::Image { data, mime_type } => push_image(&mut content, data, mime_type),
            Block::Result(result) => push_result(&mut content, result),
            Block::Thinking { .. } | Block::Call { .. } => {}
        }
    }
    Message::User(UserMessage { content, timestamp: Timestamp::default(), author: Author::User })
}

fn push_result(content: &mut Vec<Content>, result: &PreparedResult<'_>) {
    let text = result.text();
    let name = &result.name;
    push_text(
        content,
        &if result.is_error {
            format!("{name} failed:\n{text}")
        } else {
            format!("Result of {name}:\n{text}")
        },
    );
    for block in result.images() {
        match block {
            ResultBlock::Image { data, mime_type } => push_image(content, data, mime_type),
            ResultBlock::Text(_) => {}
        }
    }
}

/// Appends text, to the last block if that is text too: not every template joins blocks with a line break.
fn push_text(content: &mut Vec<Content>, text: &str) {
    match content.last_mut() {
        Some(Content::Text { text: before }) => {
            before.push_str("\n\n");
            before.push_str(text);
        }
        Some(Content::Image { .. } | Content::Thinking { .. } | Content::ToolCall(_)) | None => {
            content.push(Content::text(text));
        }
    }
}

fn push_image(content: &mut Vec<Content>, data: &str, mime_type: &str) {
    content.push(Content::Image { data: data.to_owned(), mime_type: mime_type.to_owned() });
}

fn assistant(blocks: &[Block<'_>], form: AnswerForm) -> Message {
    let objects = blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(answer_text(text, form)),
        Block::Call { name, arguments, .. } => Some(call_text(name, arguments)),
        Block::Image { .. } | Block::Thinking { .. } | Block::Result(_) => None,
    });
    let text = objects.collect::<Vec<_>>().join("\n");
    Message::Assistant(AssistantMessage {
        content: vec![Content::text(text)],
        stop_reason: StopReason::Stop,
        model: String::new(),
        provider: String::new(),
        usage: Usage::default(),
        timestamp: Timestamp::default(),
        error_message: None,
    })
}

/// The form of final answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerForm {
    Text,
    /// As JSON, if the text is JSON.
    Json,
}

fn answer_text(text: &str, form: AnswerForm) -> String {
    let is_json = || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    match form {
        AnswerForm::Json if is_json() => format!("{{\"{ANSWER}\": {}}}", text.trim()),
        AnswerForm::Json | AnswerForm::Text => format!("{{\"{ANSWER}\": {}}}", Value::from(text)),
    }
}

fn call_text(name: &str, arguments: impl Display) -> String {
    format!("{{\"{NAME}\": {}, \"{ARGUMENTS}\": {arguments}}}", Value::from(name))
}
