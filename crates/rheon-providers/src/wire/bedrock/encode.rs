//! Bedrock ConverseStream: requests. Serialized from the borrowed history into one buffer.

use rheon_types::{OutputSchema, ProviderError, Request};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use super::block::{CachePoint, Content, cache_point};
use super::tools::ToolConfig;
use crate::cache::CacheMarks;
use crate::catalog::ThinkingStyle;
use crate::compat::CacheStyle;
use crate::history::{CONTINUE, HistoryRules, ImageSupport, PreparedHistory, Role, ThinkingFilter};
use crate::wire::answer_schema;
use crate::wire::body;
use crate::wire::claude::{self, Outline, Settings, Thinking};
use crate::wire::codec::WireRequest;
use crate::wire::tools::TOOL_NAMES;

/// Encodes a request body. The model name is part of the URL.
pub(in crate::wire) fn encode(call: &WireRequest<'_>) -> Result<Vec<u8>, ProviderError> {
    let request = call.request;
    let claude = is_claude(&request.model);
    let rules = HistoryRules {
        origin: call.origin,
        call_id: claude::call_id_rule(call.compat.call_id),
        alternate: true,
        tool_name: TOOL_NAMES,
        image_support: ImageSupport::new(&call.model.info, claude::IMAGE_TYPES),
        // Other makers' models refuse their own thinking.
        thinking: if claude { ThinkingFilter::Signed } else { ThinkingFilter::None },
    };
    let history = PreparedHistory::new(request, rules);
    let outline = Outline::new(&history)?;
    let marks = match call.compat.cache {
        CacheStyle::Points if claude => CacheMarks::new(request, outline.user_indexes()),
        // Most other makers' models refuse cache points.
        CacheStyle::Points | CacheStyle::None | CacheStyle::Marks | CacheStyle::Key => CacheMarks::default(),
    };
    let settings = settings(call, claude);
    let body = Body {
        system: System::new(request, &marks),
        tool_config: ToolConfig::new(request, &history, settings.choice, marks.tools),
        inference_config: InferenceConfig {
            max_tokens: settings.tokens_max,
            temperature: settings.temperature,
        },
        additional_model_request_fields: ModelFields::new(&settings),
        output_config: request.output_schema.as_deref().map(OutputConfig::new),
        messages: Messages { history: &history, marks: &marks, outline, settings: &settings },
    };
    body::write(&body, &history)
}

/// Whether a model is Anthropic's. The name of an application inference profile does not say so; it is treated as
/// Anthropic's, because the fields of other makers' models are unknown here.
fn is_claude(model: &str) -> bool {
    ["claude", "anthropic", "application-inference-profile"].iter().any(|part| model.contains(part))
}

/// The settings for `call`. The thinking fields are Anthropic's, so other models do not get them; nor do they continue
/// a message.
fn settings<'a>(call: &WireRequest<'a>, claude: bool) -> Settings<'a> {
    if claude {
        Settings::new(call, &call.model.thinking)
    } else {
        Settings { prefill: false, ..Settings::new(call, &ThinkingStyle::None) }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<System<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig<'a>>,
    inference_config: InferenceConfig,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_model_request_fields: Option<ModelFields>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    messages: Messages<'a>,
}

/// The system prompt: a block per section, and a cache point after each marked one.
struct System<'a> {
    request: &'a Request,
    marked: [Option<usize>; 2],
}

impl<'a> System<'a> {
    fn new(request: &'a Request, marks: &CacheMarks) -> Option<Self> {
        let mut sections = request.system.sections();
        sections
            .any(|section| !claude::is_blank(&section.text))
            .then_some(Self { request, marked: marks.system })
    }
}

impl Serialize for System<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut blocks = serializer.serialize_seq(None)?;
        let mut has_news = false;
        for (index, section) in self.request.system.sections().enumerate() {
            if !claude::is_blank(&section.text) {
                blocks.serialize_element(&SystemBlock::Text(&section.text))?;
                has_news = true;
            }
            if self.marked.contains(&Some(index)) && has_news {
                blocks.serialize_element(&SystemBlock::CachePoint(cache_point()))?;
                has_news = false;
            }
        }
        blocks.end()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum SystemBlock<'a> {
    Text(&'a str),
    CachePoint(CachePoint),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InferenceConfig {
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
}

/// Fields that only Anthropic's models accept.
#[derive(Serialize)]
struct ModelFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Effort>,
}

#[derive(Serialize)]
struct Effort {
    effort: &'static str,
}

impl ModelFields {
    fn new(settings: &Settings<'_>) -> Option<Self> {
        let Settings { thinking, effort, .. } = *settings;
        let output_config = effort.map(|effort| Effort { effort });
        (thinking.is_some() || output_config.is_some()).then_some(Self { thinking, output_config })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OutputConfig<'a> {
    text_format: TextFormat<'a>,
}

#[derive(Serialize)]
struct TextFormat<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    structure: Structure<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Structure<'a> {
    json_schema: JsonSchema<'a>,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    schema: JsonText,
}

/// A JSON value that is sent as a string.
struct JsonText(serde_json::Value);

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'a> OutputConfig<'a> {
    fn new(output: &'a OutputSchema) -> Self {
        let json_schema =
            JsonSchema { name: &output.name, schema: JsonText(answer_schema::for_claude(&output.schema)) };
        let text_format = TextFormat { kind: "json_schema", structure: Structure { json_schema } };
        Self { text_format }
    }
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
            let content = [SystemBlock::Text(CONTINUE)];
            messages.serialize_element(&WireMessage { role: "user", content })?;
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
