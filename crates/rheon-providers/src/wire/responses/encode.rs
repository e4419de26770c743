//! OpenAI Responses: requests.

use std::borrow::Cow;

use rheon_types::{ProviderError, ToolChoice};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::input::Input;
use crate::catalog::ThinkingStyle;
use crate::compat::{StructuredOutput, ToolStyle};
use crate::history::{HistoryRules, ImageSupport, PreparedHistory, ThinkingFilter};
use crate::wire::answer_schema::{OpenAiSchema, for_openai};
use crate::wire::body;
use crate::wire::codec::WireRequest;
use crate::wire::openai::{self, DisplayString, SystemText, ThinkingSetting};
use crate::wire::tools::{self, TOOL_NAMES, Tool, tools};

/// The minimum output limit that the service accepts.
const TOKENS_MIN: u32 = 16;

/// Encodes a request body.
pub(in crate::wire) fn encode(call: &WireRequest<'_>) -> Result<Vec<u8>, ProviderError> {
    let rules = HistoryRules {
        origin: call.origin,
        call_id: call.compat.call_id,
        alternate: false,
        tool_name: TOOL_NAMES,
        image_support: ImageSupport::new(&call.model.info, openai::IMAGE_TYPES),
        thinking: ThinkingFilter::Signed,
    };
    let history = PreparedHistory::new(call.request, rules);
    history.ensure_not_empty()?;
    body::write(&Body { call, history: &history, setting: ThinkingSetting::new(call) }, &history)
}

struct Body<'a> {
    call: &'a WireRequest<'a>,
    history: &'a PreparedHistory<'a>,
    setting: ThinkingSetting,
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let request = self.call.request;
        let mut body = serializer.serialize_map(None)?;
        body.serialize_entry("model", &*request.model)?;
        if let Some(text) = SystemText::new(self.call) {
            body.serialize_entry("instructions", &DisplayString(text))?;
        }
        body.serialize_entry("input", &Input { history: self.history })?;
        self.tools(&mut body)?;
        if let Some(tokens) = openai::tokens_max(self.call) {
            body.serialize_entry("max_output_tokens", &tokens.max(TOKENS_MIN))?;
        }
        if let Some(temperature) = openai::temperature(self.call, self.setting) {
            body.serialize_entry("temperature", &temperature)?;
        }
        self.thinking(&mut body)?;
        self.form(&mut body)?;
        if let Some(key) = openai::cache_key(self.call) {
            body.serialize_entry("prompt_cache_key", &key)?;
        }
        body.serialize_entry("store", &false)?;
        body.serialize_entry("stream", &true)?;
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
        body.serialize_entry("tools", &Tools { tools: tools(request) })?;
        match &request.tool_choice {
            ToolChoice::Auto => Ok(()),
            ToolChoice::None => body.serialize_entry("tool_choice", "none"),
            ToolChoice::Required => body.serialize_entry("tool_choice", "required"),
            ToolChoice::Tool(name) => {
                let chosen = ChosenTool { kind: "function", name: &tools::name(name) };
                body.serialize_entry("tool_choice", &chosen)
            }
        }
    }

    /// Models that do not think refuse requests for encrypted reasoning.
    fn thinking<M: SerializeMap>(&self, body: &mut M) -> Result<(), M::Error> {
        match self.call.model.thinking {
            ThinkingStyle::None => return Ok(()),
            ThinkingStyle::Budget { .. }
            | ThinkingStyle::Levels(_)
            | ThinkingStyle::Toggle
            | ThinkingStyle::Always => {}
        }
        // Nor is it known of a model that is not in the catalog.
        if self.setting == ThinkingSetting::Unset && !self.call.model.info.known {
            return Ok(());
        }
        let summary = match self.setting {
            ThinkingSetting::Off => None,
            ThinkingSetting::Unset | ThinkingSetting::On { .. } => Some("auto"),
        };
        if let Some(effort) = self.setting.effort() {
            body.serialize_entry("reasoning", &Reasoning { effort, summary })?;
        }
        body.serialize_entry("include", &["reasoning.encrypted_content"])
    }

    fn form<M: SerializeMap>(&self, body: &mut M) -> Result<(), M::Error> {
        let Some(schema) = self.call.request.output_schema.as_deref() else { return Ok(()) };
        let format = match self.call.compat.structured_output {
            StructuredOutput::Prompt => return Ok(()),
            StructuredOutput::JsonObject => Format { kind: "json_object", ..Format::default() },
            StructuredOutput::JsonSchema => {
                let OpenAiSchema { strict, schema: form } = for_openai(&schema.schema);
                let name = Some(schema.name.as_str());
                Format { kind: "json_schema", name, strict: Some(strict), schema: Some(form) }
            }
        };
        body.serialize_entry("text", &TextOptions { format })
    }
}

struct Tools<'a> {
    tools: Vec<Tool<'a>>,
}

impl Serialize for Tools<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.tools.iter().map(|tool| ToolSpec {
            kind: "function",
            name: &tool.name,
            description: tool.description,
            parameters: &tool.schema,
            strict: false,
        }))
    }
}

#[derive(Serialize)]
struct ToolSpec<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: &'a Value,
    strict: bool,
}

#[derive(Serialize)]
struct ChosenTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
}

#[derive(Serialize)]
struct Reasoning {
    effort: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'static str>,
}

#[derive(Serialize)]
struct TextOptions<'a> {
    format: Format<'a>,
}

#[derive(Default, Serialize)]
struct Format<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<Cow<'a, Value>>,
}
