//! Fields that a request can do without. A field that a model refuses is left out from then on.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_types::{ProviderErrorKind, Request};
use serde_json::Value;

use super::refused::Refused;
use crate::catalog::{Model, ThinkingStyle};
use crate::compat::{CacheStyle, Compat, StructuredOutput, TokensField};

/// A part of a request that not every model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OptionalField {
    Thinking,
    Temperature,
    StreamUsage,
    TokensField,
    Cache,
    OutputSchema,
    Store,
}

impl OptionalField {
    const ALL: [Self; 7] = [
        Self::Thinking,
        Self::Temperature,
        Self::StreamUsage,
        Self::TokensField,
        Self::Cache,
        Self::OutputSchema,
        Self::Store,
    ];

    /// The names that a refusal may use for it, in lower case.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Thinking => &[
                "reasoning_effort",
                "reasoning",
                "thinking",
                "thinking_budget",
                "budget_tokens",
                "enable_thinking",
                "chat_template_kwargs",
                "output_config.effort",
                "effort",
                "thinkingconfig",
                "thinking_config",
                "thinkingbudget",
                "thinkinglevel",
                "thinking_level",
                "encrypted",
                "reasoning.encrypted_content",
            ],
            Self::Temperature => &["temperature"],
            Self::StreamUsage => &["stream_options", "include_usage"],
            Self::TokensField => &["max_tokens", "max_completion_tokens"],
            Self::Cache => &["prompt_cache_key", "cache_control", "cachepoint"],
            Self::OutputSchema => &[
                "response_format",
                "json_schema",
                "output_format",
                "output_config.format",
                "output_config",
                "text.format",
                "response_json_schema",
                "responsejsonschema",
            ],
            Self::Store => &["store"],
        }
    }

    /// Whether `refusal` is about this field.
    fn is_named(self, refusal: &RefusalText) -> bool {
        let names = self.names();
        if names.contains(&refusal.parameter.as_str()) {
            return true;
        }
        let is_named = names.iter().any(|name| refusal.words.contains(*name));
        match self {
            // About the conversation, not about the setting.
            Self::Thinking => {
                is_named
                    && !["signature", "redacted_thinking"].iter().any(|word| refusal.words.contains(*word))
            }
            // An invalid number is no reason to use the other field.
            Self::TokensField => names.iter().all(|name| refusal.words.contains(*name)),
            // An ordinary word, too.
            Self::Store => refusal.quotes("store"),
            Self::Temperature | Self::StreamUsage | Self::Cache | Self::OutputSchema => is_named,
        }
    }
}

/// A refusal as words.
struct RefusalText {
    text: String,
    words: BTreeSet<String>,
    /// The field that the service names apart from its message.
    parameter: String,
}

impl RefusalText {
    fn new(refused: &Refused) -> Self {
        let text = refused.error.message.to_lowercase();
        let mut words = BTreeSet::new();
        for word in text.split(|letter: char| !(letter.is_ascii_alphanumeric() || "_.".contains(letter))) {
            let word = word.trim_matches('.');
            words.insert(word.to_owned());
            words.extend(word.split('.').map(str::to_owned));
        }
        let json: Value = serde_json::from_str(&refused.body).unwrap_or_default();
        let parameter = json.pointer("/error/param").or_else(|| json.get("param")).and_then(Value::as_str);
        Self { words, parameter: parameter.unwrap_or_default().to_lowercase(), text }
    }

    fn quotes(&self, word: &str) -> bool {
        ['\'', '"', '`'].iter().any(|quote| self.text.contains(&format!("{quote}{word}{quote}")))
    }
}

/// The field that `refused` is about, other than those `omitted` already.
pub(super) fn refused_fields(refused: &Refused, omitted: &OmittedFields) -> Vec<OptionalField> {
    let is_refusal = refused.error.kind == ProviderErrorKind::InvalidRequest
        && matches!(refused.status.map(|status| status.as_u16()), Some(400 | 422));
    if !is_refusal {
        return Vec::new();
    }
    let text = RefusalText::new(refused);
    let is_new = |field: &OptionalField| !omitted.contains(field) && field.is_named(&text);
    OptionalField::ALL.into_iter().filter(is_new).collect()
}

/// The fields that a model does not get.
pub(super) type OmittedFields = BTreeSet<OptionalField>;

/// The fields that models refused, by model.
#[derive(Debug, Default)]
pub(super) struct RefusedFields {
    by_model: Mutex<BTreeMap<Arc<str>, OmittedFields>>,
}

impl RefusedFields {
    /// More models than anybody uses at one service.
    const MODELS_MAX: usize = 256;

    pub(super) fn of(&self, model: &str) -> OmittedFields {
        self.lock().get(model).cloned().unwrap_or_default()
    }

    pub(super) fn remember(&self, model: &Arc<str>, fields: OmittedFields) {
        let mut by_model = self.lock();
        if by_model.len() >= Self::MODELS_MAX {
            by_model.clear();
        }
        by_model.insert(Arc::clone(model), fields);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, OmittedFields>> {
        self.by_model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request with its model and service, as if the model had no such fields.
pub(super) struct ReducedCall<'a> {
    pub(super) request: Cow<'a, Request>,
    pub(super) model: Cow<'a, Model>,
    pub(super) compat: Cow<'a, Compat>,
}

impl ReducedCall<'_> {
    pub(super) fn omit(&mut self, field: OptionalField) {
        match field {
            OptionalField::Thinking => self.model.to_mut().thinking = ThinkingStyle::None,
            OptionalField::Temperature => self.request.to_mut().temperature = None,
            OptionalField::StreamUsage => self.compat.to_mut().stream_usage = false,
            OptionalField::TokensField => {
                let compat = self.compat.to_mut();
                compat.tokens_field = match compat.tokens_field {
                    TokensField::MaxTokens => TokensField::MaxCompletionTokens,
                    TokensField::MaxCompletionTokens => TokensField::MaxTokens,
                };
            }
            OptionalField::Cache => self.compat.to_mut().cache = CacheStyle::None,
            OptionalField::OutputSchema => self.compat.to_mut().structured_output = StructuredOutput::Prompt,
            OptionalField::Store => self.compat.to_mut().store_false = false,
        }
    }
}
