//! Gemini `streamGenerateContent`: limits, thinking and output format.

use rheon_types::ThinkingLevel;
use serde::Serialize;
use serde_json::Value;

use crate::catalog::ThinkingStyle;
use crate::wire::codec::WireRequest;
use crate::wire::levels::nearest;

/// The service decides how much to think.
const BUDGET_DYNAMIC: i64 = -1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a Value>,
}

impl<'a> GenerationConfig<'a> {
    /// The settings of `call`, with the output schema `schema`.
    pub(super) fn new(call: &WireRequest<'a>, schema: Option<&'a Value>) -> Self {
        let info = &call.model.info;
        // The service refuses a limit above the model's own.
        let tokens_max = if info.known { info.output_tokens_max.max(1) } else { u32::MAX };
        let max_output_tokens = call.request.tokens_max.map(|tokens| tokens.min(tokens_max));
        Self {
            max_output_tokens,
            temperature: call.request.temperature.filter(|value| value.is_finite()),
            // A model that is not in the catalog may refuse the field, so it gets it only on request.
            thinking_config: ThinkingConfig::new(&call.model.thinking, call.request.thinking)
                .map(|config| config.within(max_output_tokens))
                .filter(|_| info.known || call.request.thinking != ThinkingLevel::Off),
            response_mime_type: schema.map(|_| "application/json"),
            response_json_schema: schema,
        }
    }
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThinkingConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    include_thoughts: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<&'static str>,
}

impl ThinkingConfig {
    /// The thinking settings for `level`, or `None` if there is nothing to set.
    pub(super) fn new(style: &ThinkingStyle, level: ThinkingLevel) -> Option<Self> {
        let include_thoughts = (level != ThinkingLevel::Off).then_some(true);
        let (thinking_budget, thinking_level) = match style {
            ThinkingStyle::None => return None,
            ThinkingStyle::Budget { min, max, can_disable } => {
                let budget = match budget(level) {
                    0 if *can_disable => 0,
                    tokens => tokens.max(*min).min(*max),
                };
                (Some(i64::from(budget)), None)
            }
            // The service has no level for "off".
            ThinkingStyle::Levels(levels) => (None, nearest(levels, level).map(level_name)),
            ThinkingStyle::Toggle if level == ThinkingLevel::Off => (Some(0), None),
            ThinkingStyle::Toggle => (Some(BUDGET_DYNAMIC), None),
            ThinkingStyle::Always => (None, None),
        };
        if include_thoughts.is_none() && thinking_budget.is_none() && thinking_level.is_none() {
            return None;
        }
        Some(Self { include_thoughts, thinking_budget, thinking_level })
    }
}

impl ThinkingConfig {
    /// Thoughts are part of the output: leaves a quarter of its limit for the response.
    fn within(mut self, tokens_max: Option<u32>) -> Self {
        if let (Some(tokens), Some(budget)) = (tokens_max, self.thinking_budget) {
            self.thinking_budget =
                Some(budget.min(i64::from(tokens - tokens / 4).min(i64::from(tokens) - 1)));
        }
        self
    }
}

fn budget(level: ThinkingLevel) -> u32 {
    match level {
        ThinkingLevel::Off => 0,
        ThinkingLevel::Minimal => 512,
        ThinkingLevel::Low => 1_024,
        ThinkingLevel::Medium => 8_192,
        ThinkingLevel::High => 24_576,
        ThinkingLevel::Max => u32::MAX,
    }
}

fn level_name(level: ThinkingLevel) -> &'static str {
    match level {
        ThinkingLevel::Off | ThinkingLevel::Minimal => "MINIMAL",
        ThinkingLevel::Low => "LOW",
        ThinkingLevel::Medium => "MEDIUM",
        ThinkingLevel::High | ThinkingLevel::Max => "HIGH",
    }
}
