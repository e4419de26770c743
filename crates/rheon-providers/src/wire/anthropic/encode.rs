//! Anthropic Messages: requests. Serialized from the borrowed history into one buffer.

use std::borrow::Cow;

use rheon_types::{ProviderError, Request, ToolChoice};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::block::{CacheControl, Content, mark};
use crate::cache::CacheMarks;
use crate::compat::{CacheStyle, StructuredOutput};
use crate::history::{CONTINUE, HistoryRules, ImageSupport, PreparedHistory, Role, ThinkingFilter};
use crate::wire::answer_schema;
use crate::wire::body;
use crate::wire::claude::{self, Outline, Settings, Thinking};
use crate::wire::codec::WireRequest;
use crate::wire::openai::{SchemaText, prompted_schema};
use crate::wire::tools::{self, TOOL_NAMES, Tool, tools};

/// Encodes a request body.
pub(in crate::wire) fn encode(call: &WireRequest<'_>) -> Result<Vec<u8>, ProviderError> {
    let request = call.request;
    let rules = HistoryRules {
        origin: call.origin,
        call_id: claude::call_id_rule(call.compat.call_id),
        alternate: true,
        tool_name: TOOL_NAMES,
        image_support: ImageSupport::new(&call.model.info, claude::IMAGE_TYPES),
        thinking: ThinkingFilter::Signed,
    };
    let history = PreparedHistory::new(request, rules);
    let outline = Outline::new(&history)?;
    let marks = match call.compat.cache {
        CacheStyle::Marks => CacheMarks::new(request, outline.user_indexes()),
        CacheStyle::None | CacheStyle::Points | CacheStyle::Key => CacheMarks::default(),
    };
    let settings = Settings::new(call, &call.model.thinking);
    let body = Body {
        model: &request.model,
        max_tokens: settings.tokens_max,
        stream: true,
        system: System::new(call, &marks),
        tools: (!request.tools.is_empty()).then_some(Tools { tools: tools(request), marks: &marks }),
        tool_choice: Choice::new(request, settings.choice),
        thinking: settings.thinking,
        temperature: settings.temperature,
        output_config: OutputConfig::new(call, &settings),
        messages: Messages { history: &history, marks: &marks, outline, settings: &settings },
    };
    body::write(&body, &history)
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<System<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Tools<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
    messages: Messages<'a>,
}

/// The system prompt: a block per section, and one for the schema if it has to be in the prompt.
struct System<'a> {
    request: &'a Request,
    marked: [Option<usize>; 2],
    schema: Option<String>,
}

impl<'a> System<'a> {
    fn new(call: &WireRequest<'a>, marks: &CacheMarks) -> Option<Self> {
        let request = call.request;
        let sections_sent =
            || request.system.sections().enumerate().filter(|(_, section)| !claude::is_blank(&section.text));
        let schema = prompted_schema(call).map(|schema| SchemaText(schema).to_string());
        if schema.is_none() {
            sections_sent().next()?;
        }
        // A mark moves back to the last section that is really sent.
        let sent = |at| sections_sent().map(|(index, _)| index).take_while(|index| *index <= at).last();
        Some(Self { request, marked: marks.system.map(|at| at.and_then(sent)), schema })
    }
}

impl Serialize for System<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sections = self.request.system.sections().enumerate();
        let sections = sections.filter(|(_, section)| !claude::is_blank(&section.text));
        let sections = sections.map(|(index, section)| Section {
            kind: "text",
            text: &section.text,
            cache_control: mark(self.marked.contains(&Some(index))),
        });
        let schema =
            self.schema.iter().map(|text| Section { kind: "text", text, cache_control: mark(false) });
        serializer.collect_seq(sections.chain(schema))
    }
}

#[derive(Serialize)]
struct Section<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

struct Tools<'a> {
    tools: Vec<Tool<'a>>,
    marks: &'a CacheMarks,
}

impl Serialize for Tools<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tools = &self.tools;
        serializer.collect_seq(tools.iter().enumerate().map(|(index, tool)| ToolSpec {
            name: &tool.name,
            description: tool.description,
            input_schema: &tool.schema,
            cache_control: mark(self.marks.tools && index + 1 == tools.len()),
        }))
    }
}

#[derive(Serialize)]
struct ToolSpec<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Choice<'a> {
    Any,
    None,
    Tool { name: Cow<'a, str> },
}

impl<'a> Choice<'a> {
    /// The service chooses by default, and accepts a choice only together with tools.
    fn new(request: &Request, choice: &'a ToolChoice) -> Option<Self> {
        match choice {
            _ if request.tools.is_empty() => None,
            ToolChoice::Auto => None,
            ToolChoice::None => Some(Self::None),
            ToolChoice::Required => Some(Self::Any),
            ToolChoice::Tool(name) => Some(Self::Tool { name: tools::name(name) }),
        }
    }
}

#[derive(Serialize)]
struct OutputConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format>,
}

impl OutputConfig {
    fn new(call: &WireRequest<'_>, settings: &Settings<'_>) -> Option<Self> {
        let schema = match call.compat.structured_output {
            StructuredOutput::JsonSchema => call.request.output_schema.as_deref(),
            StructuredOutput::JsonObject | StructuredOutput::Prompt => None,
        };
        let format = schema
            .map(|output| Format { kind: "json_schema", schema: answer_schema::for_claude(&output.schema) });
        let effort = settings.effort;
        (effort.is_some() || format.is_some()).then_some(Self { effort, format })
    }
}

#[derive(Serialize)]
struct Format {
    #[serde(rename = "type")]
    kind: &'static str,
    schema: Value,
}

struct Messages<'a> {
    history: &'a PreparedHistory<'a>,
    marks: &'a CacheMarks,
    outline: Outline,
    settings: &'a Settings<'a>,
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut messages = serializer.serialize_seq(None)?;
        for (index, (role, blocks)) in self.history.messages().enumerate() {
            let content = Content {
                role,
                blocks,
                marked: self.marks.message(index).then(|| self.history.stable_blocks(index, blocks)),
                open: self.outline.open_answer == Some(index),
            };
            messages.serialize_element(&WireMessage { role: role_name(role), content })?;
        }
        // A model that cannot continue its own message refuses a conversation that ends with one.
        if self.outline.needs_continue(self.settings) {
            messages.serialize_element(&WireMessage { role: "user", content: CONTINUE })?;
        }
        messages.end()
    }
}

#[derive(Serialize)]
struct WireMessage<T> {
    role: &'static str,
    content: T,
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::User | Role::Tool => "user",
        Role::Assistant => "assistant",
    }
}
