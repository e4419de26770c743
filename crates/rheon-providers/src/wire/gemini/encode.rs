//! Gemini `streamGenerateContent`: requests, serialized from the borrowed history.

use std::borrow::Cow;
use std::fmt;

use rheon_types::{ProviderError, Request, ToolChoice};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::config::GenerationConfig;
use super::contents::Contents;
use super::generation::Generation;
use crate::history::{HistoryRules, ImageSupport, PreparedHistory, ThinkingFilter};
use crate::wire::body;
use crate::wire::codec::WireRequest;
use crate::wire::tools::{self, TOOL_NAMES, Tool, tools};

/// The image types that the models accept.
const IMAGE_TYPES: &[&str] = &["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];
/// The instruction for the model if the service cannot enforce the schema.
const SCHEMA_NOTE: &str = include_str!("schema_note.md");

/// Encodes a request body.
pub(in crate::wire) fn encode(call: &WireRequest<'_>) -> Result<Vec<u8>, ProviderError> {
    let rules = HistoryRules {
        origin: call.origin,
        call_id: call.compat.call_id,
        alternate: true,
        tool_name: TOOL_NAMES,
        image_support: ImageSupport::new(&call.model.info, IMAGE_TYPES),
        thinking: ThinkingFilter::Plain,
    };
    let history = PreparedHistory::new(call.request, rules);
    history.ensure_not_empty()?;
    let generation = Generation::of(&call.request.model);
    let request = call.request;
    // Before Gemini 3, a request has tools or a schema, not both.
    let schema = request.output_schema.as_deref().map(|output| &output.schema);
    let (schema, schema_note) = match generation {
        Generation::Two if !request.tools.is_empty() => (None, schema),
        Generation::Two | Generation::Three => (schema, None),
    };
    let body = Body {
        contents: Contents { history: &history, generation },
        system_instruction: SystemInstruction::of(request, schema_note),
        tools: Tools::of(request),
        tool_config: ToolConfig::of(request),
        generation_config: GenerationConfig::new(call, schema),
    };
    body::write(&body, &history)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    contents: Contents<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<SystemInstruction<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tools<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig<'a>>,
    generation_config: GenerationConfig<'a>,
}

/// One part per section.
#[derive(Serialize)]
struct SystemInstruction<'a> {
    parts: SystemParts<'a>,
}

struct SystemParts<'a> {
    request: &'a Request,
    schema_note: Option<&'a Value>,
}

impl<'a> SystemInstruction<'a> {
    fn of(request: &'a Request, schema_note: Option<&'a Value>) -> Option<Self> {
        let said = !request.system.is_empty() || schema_note.is_some();
        said.then_some(Self { parts: SystemParts { request, schema_note } })
    }
}

impl Serialize for SystemParts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sections = self.request.system.sections();
        let sections = sections.map(|section| SystemPart { text: SystemText::Section(&section.text) });
        let note = self.schema_note.map(|schema| SystemPart { text: SystemText::SchemaNote(schema) });
        serializer.collect_seq(sections.chain(note))
    }
}

#[derive(Serialize)]
struct SystemPart<'a> {
    text: SystemText<'a>,
}

enum SystemText<'a> {
    Section(&'a str),
    SchemaNote(&'a Value),
}

impl Serialize for SystemText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Section(text) => serializer.serialize_str(text),
            Self::SchemaNote(_) => serializer.collect_str(self),
        }
    }
}

impl fmt::Display for SystemText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Section(text) => f.write_str(text),
            Self::SchemaNote(schema) => write!(f, "{}\n{schema}", SCHEMA_NOTE.trim_end()),
        }
    }
}

/// All tools are one entry.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    #[serde(serialize_with = "declarations")]
    function_declarations: Vec<Tool<'a>>,
}

impl<'a> Tools<'a> {
    fn of(request: &'a Request) -> Option<[Self; 1]> {
        (!request.tools.is_empty()).then(|| [Self { function_declarations: tools(request) }])
    }
}

/// `parametersJsonSchema` accepts plain JSON Schema; `parameters` only a dialect of it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters_json_schema: &'a Value,
}

fn declarations<S: Serializer>(tools: &[Tool<'_>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(tools.iter().map(|tool| Declaration {
        name: &tool.name,
        description: tool.description,
        parameters_json_schema: &tool.schema,
    }))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig<'a> {
    function_calling_config: CallingConfig<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallingConfig<'a> {
    mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_function_names: Option<[Cow<'a, str>; 1]>,
}

impl<'a> ToolConfig<'a> {
    fn of(request: &'a Request) -> Option<Self> {
        let (mode, allowed_function_names) = match &request.tool_choice {
            _ if request.tools.is_empty() => return None,
            ToolChoice::Auto => ("AUTO", None),
            ToolChoice::None => ("NONE", None),
            ToolChoice::Required => ("ANY", None),
            ToolChoice::Tool(name) => ("ANY", Some([tools::name(name)])),
        };
        Some(Self { function_calling_config: CallingConfig { mode, allowed_function_names } })
    }
}
