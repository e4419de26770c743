//! What the two wires of OpenAI have in common when they write a request, and a schema in a prompt.

use std::fmt::{self, Display};

use rheon_types::{CacheStrategy, OutputSchema, Request, SystemPrompt, ThinkingLevel};
use serde::{Serialize, Serializer};

use super::levels::nearest;
use super::seam::Call;
use crate::call_id::CallIdRule;
use crate::catalog::ThinkingStyle;
use crate::compat::{CacheStyle, StructuredOutput};
use crate::fit::{FitResult, ResultBlock};

/// What the model reads before a schema that its answer must fit.
const SCHEMA_PROMPT: &str = include_str!("schema.md");

/// How an error is marked in the text of a tool result, as these wires have no field for it.
const ERROR_MARK: &str = "Error: ";

/// The pictures that these services read.
pub(super) const PICTURE_TYPES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Writes what it shows as one JSON string, without a copy of it.
pub(super) struct Shown<T>(pub(super) T);

impl<T: Display> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// A picture as an address that holds it.
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

/// Shows texts with `separator` between them.
pub(super) fn joined<'a, I>(texts: I, separator: &'static str) -> impl Display
where
    I: Iterator<Item = &'a str> + Clone,
{
    fmt::from_fn(move |f| {
        for (place, text) in texts.clone().enumerate() {
            if place > 0 {
                f.write_str(separator)?;
            }
            f.write_str(text)?;
        }
        Ok(())
    })
}

/// Shows the texts of a tool result, one per line, with a mark where it is an error.
pub(super) fn result_text<'a>(result: &'a FitResult<'a>) -> impl Display + 'a {
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
        for (place, text) in texts().enumerate() {
            if place > 0 {
                f.write_str("\n")?;
            }
            f.write_str(text)?;
        }
        Ok(())
    })
}

/// What marks `result` as an error before its first text, unless that says so itself.
pub(super) fn error_mark(result: &FitResult<'_>, first: &str) -> &'static str {
    if result.is_error && !first.starts_with("Error:") { ERROR_MARK } else { "" }
}

/// Shows the system prompt, with the schema of the answer where the prompt has to carry it.
pub(super) struct SystemText<'a> {
    system: &'a SystemPrompt,
    schema: Option<&'a OutputSchema>,
}

impl<'a> SystemText<'a> {
    /// All that the model is told before the conversation; nothing if there is nothing to tell.
    pub(super) fn new(call: &Call<'a>) -> Option<Self> {
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

/// Shows the request to answer in the form of a schema.
pub(super) struct SchemaText<'a>(pub(super) &'a OutputSchema);

impl Display for SchemaText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n\n{}", SCHEMA_PROMPT.trim_end(), self.0.schema)
    }
}

/// The schema that has to stand in the prompt, as the service cannot be given it otherwise.
pub(super) fn prompted_schema<'a>(call: &Call<'a>) -> Option<&'a OutputSchema> {
    match call.compat.structured_output {
        StructuredOutput::JsonSchema => None,
        StructuredOutput::JsonObject | StructuredOutput::Prompt => call.request.output_schema.as_deref(),
    }
}

/// The key by which the service finds its cache, where it takes one and the request allows it. At most 64 bytes.
pub(super) fn cache_key<'a>(call: &Call<'a>) -> Option<std::borrow::Cow<'a, str>> {
    let wanted = call.request.cache.enabled
        && match call.request.cache.strategy {
            CacheStrategy::Auto => true,
            CacheStrategy::Disabled => false,
            CacheStrategy::Manual { cache_system, cache_tools, cache_messages } => {
                cache_system || cache_tools || cache_messages
            }
        };
    match call.compat.cache {
        CacheStyle::Key if wanted => call.request.cache_key.as_deref().map(|key| CallIdRule::Any.apply(key)),
        CacheStyle::Key | CacheStyle::None | CacheStyle::Marks | CacheStyle::Points => None,
    }
}

/// The limit of the answer, if one is asked for: never above what the model is known to write, which services refuse.
pub(super) fn tokens_max(call: &Call<'_>) -> Option<u32> {
    let info = &call.model.info;
    let most = if info.known { info.output_tokens_max } else { u32::MAX };
    call.request.tokens_max.map(|tokens| tokens.min(most).max(1))
}

/// The sampling temperature, where the model takes one: those that think by levels do so only while they do not think.
pub(super) fn temperature(call: &Call<'_>, setting: ThinkingSetting) -> Option<f32> {
    let fixed = match call.model.thinking {
        ThinkingStyle::Levels(_) if call.model.info.known => setting != ThinkingSetting::Off,
        // Nobody knows whether it thinks at all: what the user asks for counts.
        ThinkingStyle::Levels(_) => call.request.thinking != ThinkingLevel::Off,
        ThinkingStyle::None
        | ThinkingStyle::Budget { .. }
        | ThinkingStyle::Toggle
        | ThinkingStyle::Always => false,
    };
    call.request.temperature.filter(|temperature| !fixed && temperature.is_finite())
}

/// What a model is told about its thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThinkingSetting {
    /// Nothing: there is nothing to set, or not this.
    Unset,
    /// Not to think.
    Off,
    /// To think.
    On {
        /// How hard, where it takes levels.
        effort: Option<&'static str>,
        /// For how many tokens, where it takes a budget.
        budget: Option<u32>,
    },
}

impl ThinkingSetting {
    /// What the model of `call` is told.
    pub(super) fn new(call: &Call<'_>) -> Self {
        let level = call.request.thinking;
        match &call.model.thinking {
            ThinkingStyle::None | ThinkingStyle::Always => Self::Unset,
            ThinkingStyle::Toggle if level == ThinkingLevel::Off => Self::Off,
            ThinkingStyle::Toggle => Self::On { effort: None, budget: None },
            ThinkingStyle::Levels(levels) => Self::of_levels(levels, level),
            ThinkingStyle::Budget { can_disable: true, .. } if level == ThinkingLevel::Off => Self::Off,
            ThinkingStyle::Budget { .. } if level == ThinkingLevel::Off => Self::Unset,
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

    /// The effort as a word, `none` where it is off.
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

/// The tokens that `level` stands for, within what the service takes; room for the answer itself is left where it can be.
fn budget(request: &Request, level: ThinkingLevel, min: u32, max: u32) -> u32 {
    const ANSWER_TOKENS: u32 = 1_024;
    let wanted = match level {
        ThinkingLevel::Off | ThinkingLevel::Minimal => 1_024,
        ThinkingLevel::Low => 4_096,
        ThinkingLevel::Medium => 10_240,
        ThinkingLevel::High => 32_768,
        ThinkingLevel::Max => max,
    };
    let room = request.tokens_max.map_or(max, |tokens| tokens.saturating_sub(ANSWER_TOKENS));
    wanted.min(room).min(max).max(min)
}
