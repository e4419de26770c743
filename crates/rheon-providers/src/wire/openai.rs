//! Shared by the two OpenAI wires: text, schemas, limits and thinking of requests.

use std::fmt::{self, Display};

use rheon_types::{CacheStrategy, OutputSchema, Request, SystemPrompt, ThinkingLevel};
use serde::{Serialize, Serializer};

use super::codec::WireRequest;
use super::levels::nearest;
use crate::call_id::CallIdRule;
use crate::catalog::ThinkingStyle;
use crate::compat::{CacheStyle, StructuredOutput};
use crate::history::{PreparedResult, ResultBlock};

/// The instruction before a schema in the prompt.
const SCHEMA_PROMPT: &str = include_str!("schema.md");

/// Marks an error in the text of a tool result, because these wires have no field for it.
const ERROR_MARK: &str = "Error: ";

/// The image types that these services accept.
pub(super) const IMAGE_TYPES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Serializes a value's `Display` output as one JSON string, without copying it.
pub(super) struct DisplayString<T>(pub(super) T);

impl<T: Display> Serialize for DisplayString<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// An image as a data URL.
#[derive(Clone, Copy)]
pub(super) struct DataUrl<'a> {
    pub(super) mime_type: &'a str,
    pub(super) data: &'a str,
}

impl Serialize for DataUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("data:{};base64,{}", self.mime_type, self.data))
    }
}

/// Displays texts with `separator` between them.
pub(super) fn joined<'a, I>(texts: I, separator: &'static str) -> impl Display
where
    I: Iterator<Item = &'a str> + Clone,
{
    fmt::from_fn(move |f| {
        for (index, text) in texts.clone().enumerate() {
            if index > 0 {
                f.write_str(separator)?;
            }
            f.write_str(text)?;
        }
        Ok(())
    })
}

/// Displays the text of a tool result, one block per line, marked if it is an error.
pub(super) fn result_text<'a>(result: &'a PreparedResult<'a>) -> impl Display + 'a {
    let texts = || {
        result.blocks().filter_map(|block| match block {
            ResultBlock::Text(text) => Some(text),
            ResultBlock::Image { .. } => None,
        })
    };
    let first = texts().next().unwrap_or_default();
    let mark = error_mark(result, first);
    fmt::from_fn(move |f| {
        f.write_str(mark)?;
        for (index, text) in texts().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            f.write_str(text)?;
        }
        Ok(())
    })
}

/// The prefix that marks `result` as an error, unless its first text has one.
pub(super) fn error_mark(result: &PreparedResult<'_>, first: &str) -> &'static str {
    if result.is_error && !first.starts_with("Error:") { ERROR_MARK } else { "" }
}

/// Displays the system prompt, with the output schema if it has to be in the prompt.
pub(super) struct SystemText<'a> {
    system: &'a SystemPrompt,
    schema: Option<&'a OutputSchema>,
}

impl<'a> SystemText<'a> {
    /// The system prompt; `None` if it is empty.
    pub(super) fn new(call: &WireRequest<'a>) -> Option<Self> {
        let schema = prompted_schema(call);
        let system = &call.request.system;
        if system.is_empty() && schema.is_none() { None } else { Some(Self { system, schema }) }
    }
}

impl Display for SystemText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for section in self.system.sections() {
            write!(f, "{separator}{}", section.text)?;
            separator = "\n\n";
        }
        match self.schema {
            Some(schema) => write!(f, "{separator}{}", SchemaText(schema)),
            None => Ok(()),
        }
    }
}

/// Displays the instruction to answer by a schema.
pub(super) struct SchemaText<'a>(pub(super) &'a OutputSchema);

impl Display for SchemaText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n\n{}", SCHEMA_PROMPT.trim_end(), self.0.schema)
    }
}

/// The output schema, if it has to be in the prompt because the service has no field for it.
pub(super) fn prompted_schema<'a>(call: &WireRequest<'a>) -> Option<&'a OutputSchema> {
    match call.compat.structured_output {
        StructuredOutput::JsonSchema => None,
        StructuredOutput::JsonObject | StructuredOutput::Prompt => call.request.output_schema.as_deref(),
    }
}

/// The prompt cache key, if the service accepts one and the request allows it. At most 64 bytes.
pub(super) fn cache_key<'a>(call: &WireRequest<'a>) -> Option<std::borrow::Cow<'a, str>> {
    let target = call.request.cache.enabled
        && match call.request.cache.strategy {
            CacheStrategy::Auto => true,
            CacheStrategy::Disabled => false,
            CacheStrategy::Manual { cache_system, cache_tools, cache_messages } => {
                cache_system || cache_tools || cache_messages
            }
        };
    match call.compat.cache {
        CacheStyle::Key if target => call.request.cache_key.as_deref().map(|key| CallIdRule::Any.apply(key)),
        CacheStyle::Key | CacheStyle::None | CacheStyle::Marks | CacheStyle::Points => None,
    }
}

/// The output limit, if requested: at most the model's known maximum, because services refuse more.
pub(super) fn tokens_max(call: &WireRequest<'_>) -> Option<u32> {
    let info = &call.model.info;
    let most = if info.known { info.output_tokens_max } else { u32::MAX };
    call.request.tokens_max.map(|tokens| tokens.min(most).max(1))
}

/// The temperature, if the model accepts one: models with thinking levels only accept it while they do not think.
pub(super) fn temperature(call: &WireRequest<'_>, setting: ThinkingSetting) -> Option<f32> {
    let fixed = match call.model.thinking {
        ThinkingStyle::Levels(_) if call.model.info.known => setting != ThinkingSetting::Off,
        // It is unknown whether it thinks at all: the requested setting counts.
        ThinkingStyle::Levels(_) => call.request.thinking != ThinkingLevel::Off,
        ThinkingStyle::None
        | ThinkingStyle::Budget { .. }
        | ThinkingStyle::Toggle
        | ThinkingStyle::Always => false,
    };
    call.request.temperature.filter(|temperature| !fixed && temperature.is_finite())
}

/// The thinking setting of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThinkingSetting {
    /// Omitted: there is no setting.
    Unset,
    /// Disabled.
    Off,
    /// Enabled.
    On {
        /// The level, if the model has levels.
        effort: Option<&'static str>,
        /// The token budget, if the model has one.
        budget: Option<u32>,
    },
}

impl ThinkingSetting {
    /// The setting for `call`.
    pub(super) fn new(call: &WireRequest<'_>) -> Self {
        let level = call.request.thinking;
        match &call.model.thinking {
            ThinkingStyle::None | ThinkingStyle::Always => Self::Unset,
            ThinkingStyle::Toggle if level == ThinkingLevel::Off => Self::Off,
            ThinkingStyle::Toggle => Self::On { effort: None, budget: None },
            ThinkingStyle::Levels(levels) => Self::of_levels(levels, level),
            ThinkingStyle::Budget { can_disable: true, .. } if level == ThinkingLevel::Off => Self::Off,
            ThinkingStyle::Budget { .. } if level == ThinkingLevel::Off => Self::Unset,
            // Not even the least thinking leaves room for an answer.
            ThinkingStyle::Budget { min, can_disable, .. }
                if call.request.tokens_max.is_some_and(|tokens| tokens <= *min) =>
            {
                if *can_disable {
                    Self::Off
                } else {
                    Self::Unset
                }
            }
            ThinkingStyle::Budget { min, max, .. } => {
                let coarse =
                    nearest(&[ThinkingLevel::Low, ThinkingLevel::Medium, ThinkingLevel::High], level);
                let budget = budget(call.request, level, *min, *max);
                Self::On { effort: coarse.map(effort), budget: Some(budget) }
            }
        }
    }

    fn of_levels(levels: &[ThinkingLevel], level: ThinkingLevel) -> Self {
        let level = match level {
            ThinkingLevel::Off if levels.contains(&ThinkingLevel::Off) => return Self::Off,
            ThinkingLevel::Off => levels.contains(&ThinkingLevel::Minimal).then_some(ThinkingLevel::Minimal),
            ThinkingLevel::Minimal
            | ThinkingLevel::Low
            | ThinkingLevel::Medium
            | ThinkingLevel::High
            | ThinkingLevel::Max => nearest(levels, level),
        };
        level.map_or(Self::Unset, |level| Self::On { effort: Some(effort(level)), budget: None })
    }

    /// The effort as a word; `none` if disabled.
    pub(super) fn effort(self) -> Option<&'static str> {
        match self {
            Self::Unset => None,
            Self::Off => Some(effort(ThinkingLevel::Off)),
            Self::On { effort, .. } => effort,
        }
    }
}

fn effort(level: ThinkingLevel) -> &'static str {
    match level {
        ThinkingLevel::Off => "none",
        ThinkingLevel::Minimal => "minimal",
        ThinkingLevel::Low => "low",
        ThinkingLevel::Medium => "medium",
        ThinkingLevel::High => "high",
        ThinkingLevel::Max => "xhigh",
    }
}

/// The token budget for `level`, within the service's limits; leaves room for the response if possible.
fn budget(request: &Request, level: ThinkingLevel, min: u32, max: u32) -> u32 {
    const ANSWER_TOKENS: u32 = 1_024;
    let target = match level {
        ThinkingLevel::Off | ThinkingLevel::Minimal => 1_024,
        ThinkingLevel::Low => 4_096,
        ThinkingLevel::Medium => 10_240,
        ThinkingLevel::High => 32_768,
        ThinkingLevel::Max => max,
    };
    let room = request.tokens_max.map_or(max, |tokens| tokens.saturating_sub(ANSWER_TOKENS));
    target.min(room).min(max).max(min)
}
