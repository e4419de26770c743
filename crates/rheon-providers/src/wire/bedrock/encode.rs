//! Bedrock ConverseStream: requests. Written straight from the borrowed history into one buffer.

use rheon_types::{OutputSchema, ProviderError, Request};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use super::block::{CachePoint, Content, cache_point};
use super::tools::ToolConfig;
use crate::cache::CacheMarks;
use crate::catalog::ThinkingStyle;
use crate::compat::CacheStyle;
use crate::fit::{CONTINUE, FitRules, FitThinking, Fitted, Pictures, Role};
use crate::wire::answer_schema;
use crate::wire::body;
use crate::wire::claude::{self, Outline, Settings, Thinking};
use crate::wire::seam::Call;
use crate::wire::tools::TOOL_NAMES;

/// The body of a request. The model's name stands in the address.
pub(in crate::wire) fn encode(call: &Call<'_>) -> Result<Vec<u8>, ProviderError> {
    let request = call.request;
    let claude = is_claude(&request.model);
    let rules = FitRules {
        origin: call.origin,
        call_id: claude::call_id_rule(call.compat.call_id),
        alternate: true,
        tool_name: TOOL_NAMES,
        pictures: Pictures::new(&call.model.info, claude::PICTURE_TYPES),
        // Models of others refuse their own thinking.
        thinking: if claude { FitThinking::Signed } else { FitThinking::None },
    };
    let fitted = Fitted::new(request, rules);
    let outline = Outline::new(&fitted)?;
    let marks = match call.compat.cache {
        CacheStyle::Points if claude => CacheMarks::new(request, outline.user_places()),
        // Most models of others refuse cache points.
        CacheStyle::Points | CacheStyle::None | CacheStyle::Marks | CacheStyle::Key => CacheMarks::default(),
    };
    let settings = settings(call, claude);
    let body = Body {
        system: System::new(request, &marks),
        tool_config: ToolConfig::new(request, &fitted, settings.choice, marks.tools),
        inference_config: InferenceConfig {
            max_tokens: settings.tokens_max,
            temperature: settings.temperature,
        },
        additional_model_request_fields: ModelFields::new(&settings),
        output_config: request.output_schema.as_deref().map(OutputConfig::new),
        messages: Messages { fitted: &fitted, marks: &marks, outline, settings: &settings },
    };
    body::write(&body, &fitted)
}

/// Whether a model is Anthropic's. The name of a profile of one's own does not say so; what is known of its thinking
/// then counts, as the fields of other makers' models are not known here.
fn is_claude(model: &str) -> bool {
    ["claude", "anthropic", "application-inference-profile"].iter().any(|part| model.contains(part))
}

/// The settings for `call`. The fields for thinking are Anthropic's, so other models are not told about it; nor do they
/// go on with an answer.
fn settings<'a>(call: &Call<'a>, claude: bool) -> Settings<'a> {
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
        for (place, section) in self.request.system.sections().enumerate() {
            if !claude::is_blank(&section.text) {
                blocks.serialize_element(&SystemBlock::Text(&section.text))?;
                has_news = true;
            }
            if self.marked.contains(&Some(place)) && has_news {
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

/// What Anthropic's models are told in their own words.
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

/// A JSON value that the service wants as text.
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

/// The conversation.
struct Messages<'a> {
    fitted: &'a Fitted<'a>,
    marks: &'a CacheMarks,
    outline: Outline,
    settings: &'a Settings<'a>,
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut messages = serializer.serialize_seq(None)?;
        for (place, (role, blocks)) in self.fitted.messages().enumerate() {
            let content = Content {
                role,
                blocks,
                marked: self.marks.message(place).then(|| self.fitted.lasting(place, blocks)),
                open: self.outline.open_answer == Some(place),
            };
            messages.serialize_element(&Said { role: role_name(role), content })?;
        }
        // A model that cannot go on with its own words refuses a conversation that ends with them.
        if self.outline.needs_continue(self.settings) {
            let content = [SystemBlock::Text(CONTINUE)];
            messages.serialize_element(&Said { role: "user", content })?;
        }
        messages.end()
    }
}

#[derive(Serialize)]
struct Said<T> {
    role: &'static str,
    content: T,
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::User | Role::Tool => "user",
        Role::Assistant => "assistant",
    }
}
