//! OpenAI Chat Completions: requests.

use std::borrow::Cow;

use rheon_types::{OutputSchema, ProviderError, ToolChoice};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::message::{Mark, Messages};
use crate::cache::CacheMarks;
use crate::compat::{CacheStyle, StructuredOutput, ThinkingReplay, ThinkingRequest, TokensField, ToolStyle};
use crate::history::{HistoryRules, ImageSupport, PreparedHistory, Role, ThinkingFilter};
use crate::wire::answer_schema::{OpenAiSchema, for_openai};
use crate::wire::body;
use crate::wire::codec::WireRequest;
use crate::wire::openai::{self, ThinkingSetting};
use crate::wire::tools::{self, TOOL_NAMES, Tool, tools};

/// Encodes a request body.
pub(in crate::wire) fn encode(call: &WireRequest<'_>) -> Result<Vec<u8>, ProviderError> {
    let thinking = match call.compat.thinking_replay {
        ThinkingReplay::None => ThinkingFilter::None,
        // Details carry the signed thinking; thinking without them is sent back as plain text.
        ThinkingReplay::ReasoningContent | ThinkingReplay::Reasoning | ThinkingReplay::ReasoningDetails => {
            ThinkingFilter::Plain
        }
    };
    let rules = HistoryRules {
        origin: call.origin,
        call_id: call.compat.call_id,
        alternate: false,
        tool_name: TOOL_NAMES,
        image_support: ImageSupport::new(&call.model.info, openai::IMAGE_TYPES),
        thinking,
    };
    let history = PreparedHistory::new(call.request, rules);
    history.ensure_not_empty()?;
    let marks = marks(call, &history);
    let setting = ThinkingSetting::new(call);
    body::write(&Body { call, history: &history, marks: &marks, setting }, &history)
}

fn marks(call: &WireRequest<'_>, history: &PreparedHistory<'_>) -> CacheMarks {
    match call.compat.cache {
        CacheStyle::Marks => {}
        CacheStyle::None | CacheStyle::Points | CacheStyle::Key => return CacheMarks::default(),
    }
    let mut last = [None, None];
    for (index, (role, blocks)) in history.messages().enumerate() {
        match role {
            // A reminder is not part of the next request, so it is not a position to mark.
            Role::User | Role::Tool if history.stable_blocks(index, blocks) == 0 => {}
            Role::User | Role::Tool => {
                let [_, newer] = last;
                last = [newer, Some(index)];
            }
            Role::Assistant => {}
        }
    }
    CacheMarks::new(call.request, last.into_iter().flatten())
}

struct Body<'a> {
    call: &'a WireRequest<'a>,
    history: &'a PreparedHistory<'a>,
    marks: &'a CacheMarks,
    setting: ThinkingSetting,
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let WireRequest { request, compat, .. } = self.call;
        let mut body = serializer.serialize_map(None)?;
        body.serialize_entry("model", &*request.model)?;
        let messages = Messages { call: self.call, history: self.history, marks: self.marks };
        body.serialize_entry("messages", &messages)?;
        self.tools(&mut body)?;
        if let Some(tokens) = openai::tokens_max(self.call) {
            let field = match compat.tokens_field {
                TokensField::MaxTokens => "max_tokens",
                TokensField::MaxCompletionTokens => "max_completion_tokens",
            };
            body.serialize_entry(field, &tokens)?;
        }
        if let Some(temperature) = openai::temperature(self.call, self.setting) {
            body.serialize_entry("temperature", &temperature)?;
        }
        self.thinking(&mut body)?;
        self.form(&mut body)?;
        if let Some(key) = openai::cache_key(self.call) {
            body.serialize_entry("prompt_cache_key", &key)?;
        }
        if compat.store_false {
            body.serialize_entry("store", &false)?;
        }
        body.serialize_entry("stream", &true)?;
        if compat.stream_usage {
            body.serialize_entry("stream_options", &StreamOptions { include_usage: true })?;
        }
        body.end()
    }
}

impl Body<'_> {
    fn tools<M: SerializeMap>(&self, body: &mut M) -> Result<(), M::Error> {
        let request = self.call.request;
        match self.call.compat.tools {
            ToolStyle::Native | ToolStyle::Lenient if !request.tools.is_empty() => {}
            ToolStyle::Native | ToolStyle::Lenient | ToolStyle::Prompted => return Ok(()),
        }
        body.serialize_entry("tools", &Tools { tools: tools(request), marks: self.marks })?;
        match &request.tool_choice {
            ToolChoice::Auto => Ok(()),
            ToolChoice::None => body.serialize_entry("tool_choice", "none"),
            ToolChoice::Required => body.serialize_entry("tool_choice", "required"),
            ToolChoice::Tool(name) => {
                let function = NamedTool { name: &tools::name(name) };
                body.serialize_entry("tool_choice", &ChosenTool { kind: "function", function })
            }
        }
    }

    fn thinking<M: SerializeMap>(&self, body: &mut M) -> Result<(), M::Error> {
        let setting = self.setting;
        let enabled = match setting {
            ThinkingSetting::Unset => return Ok(()),
            ThinkingSetting::Off => false,
            ThinkingSetting::On { .. } => true,
        };
        // A service with a thinking switch also needs the level, if the model has levels.
        let effort = setting.effort().filter(|_| enabled && self.has_levels());
        match self.call.compat.thinking {
            ThinkingRequest::None => Ok(()),
            ThinkingRequest::Effort => optional(body, "reasoning_effort", setting.effort()),
            ThinkingRequest::ReasoningObject => {
                body.serialize_entry("reasoning", &ReasoningObject::new(setting))
            }
            ThinkingRequest::ThinkingType => {
                let kind = if enabled { "enabled" } else { "disabled" };
                body.serialize_entry("thinking", &ThinkingType { kind })?;
                optional(body, "reasoning_effort", effort)
            }
            ThinkingRequest::EnableThinking => {
                body.serialize_entry("enable_thinking", &enabled)?;
                match setting {
                    ThinkingSetting::On { budget, .. } => optional(body, "thinking_budget", budget),
                    ThinkingSetting::Unset | ThinkingSetting::Off => Ok(()),
                }
            }
            ThinkingRequest::TemplateKwargs => {
                let kwargs = TemplateKwargs { enable_thinking: enabled, reasoning_effort: effort };
                body.serialize_entry("chat_template_kwargs", &kwargs)
            }
        }
    }

    fn has_levels(&self) -> bool {
        matches!(self.setting, ThinkingSetting::On { budget: None, .. })
    }

    fn form<M: SerializeMap>(&self, body: &mut M) -> Result<(), M::Error> {
        let Some(schema) = self.call.request.output_schema.as_deref() else { return Ok(()) };
        let json_schema = match self.call.compat.structured_output {
            StructuredOutput::Prompt => return Ok(()),
            StructuredOutput::JsonObject => None,
            StructuredOutput::JsonSchema => Some(JsonSchema::new(schema)),
        };
        let kind = if json_schema.is_some() { "json_schema" } else { "json_object" };
        body.serialize_entry("response_format", &ResponseFormat { kind, json_schema })
    }
}

fn optional<M: SerializeMap, T: Serialize>(
    body: &mut M,
    field: &str,
    value: Option<T>,
) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| body.serialize_entry(field, &value))
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

struct Tools<'a> {
    tools: Vec<Tool<'a>>,
    marks: &'a CacheMarks,
}

impl Serialize for Tools<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let last = self.tools.len().saturating_sub(1);
        serializer.collect_seq(self.tools.iter().enumerate().map(|(index, tool)| {
            let function =
                Function { name: &tool.name, description: tool.description, parameters: &tool.schema };
            let cache_control = (self.marks.tools && index == last).then_some(Mark::EPHEMERAL);
            ToolSpec { kind: "function", function, cache_control }
        }))
    }
}

#[derive(Serialize)]
struct ToolSpec<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Mark>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: &'a Value,
}

#[derive(Serialize)]
struct ChosenTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: NamedTool<'a>,
}

#[derive(Serialize)]
struct NamedTool<'a> {
    name: &'a str,
}

#[derive(Default, Serialize)]
struct ReasoningObject {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
}

impl ReasoningObject {
    /// The service accepts only one of level and budget.
    fn new(setting: ThinkingSetting) -> Self {
        match setting {
            ThinkingSetting::On { budget: Some(tokens), .. } => {
                Self { max_tokens: Some(tokens), ..Self::default() }
            }
            ThinkingSetting::On { effort: None, budget: None } => {
                Self { enabled: Some(true), ..Self::default() }
            }
            ThinkingSetting::On { .. } | ThinkingSetting::Off | ThinkingSetting::Unset => {
                Self { effort: setting.effort(), ..Self::default() }
            }
        }
    }
}

#[derive(Serialize)]
struct ThinkingType {
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
struct TemplateKwargs {
    enable_thinking: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    json_schema: Option<JsonSchema<'a>>,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    strict: bool,
    schema: Cow<'a, Value>,
}

impl<'a> JsonSchema<'a> {
    fn new(schema: &'a OutputSchema) -> Self {
        let OpenAiSchema { strict, schema: form } = for_openai(&schema.schema);
        Self { name: &schema.name, strict, schema: form }
    }
}
