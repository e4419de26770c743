//! Gemini `streamGenerateContent`: the content of an event, borrowed from its text.

use std::borrow::Cow;

use rheon_types::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::wire::count::Count;

/// Text, borrowed if it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// One event.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer<'a> {
    #[serde(borrow, default)]
    pub(super) candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow, default)]
    pub(super) prompt_feedback: Option<PromptFeedback<'a>>,
    #[serde(default)]
    pub(super) usage_metadata: Option<UsageMetadata>,
    #[serde(borrow, default)]
    pub(super) model_version: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) error: Option<ErrorStatus<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Candidate<'a> {
    #[serde(borrow, default)]
    content: Option<Content<'a>>,
    #[serde(borrow, default)]
    finish_reason: Option<Text<'a>>,
    #[serde(borrow, default)]
    finish_message: Option<Text<'a>>,
}

/// The finish reason and message.
pub(super) struct End<'a> {
    pub(super) reason: Cow<'a, str>,
    pub(super) message: Cow<'a, str>,
}

impl<'a> Candidate<'a> {
    pub(super) fn into_parts(self) -> (Vec<Part<'a>>, Option<End<'a>>) {
        let message = self.finish_message.map_or(Cow::Borrowed(""), |message| message.0);
        let reason = self.finish_reason.map(|reason| reason.0);
        let parts = self.content.and_then(|content| content.parts).unwrap_or_default();
        (parts, reason.map(|reason| End { reason, message }))
    }
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    parts: Option<Vec<Part<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part<'a> {
    #[serde(borrow, default)]
    pub(super) text: Option<Text<'a>>,
    #[serde(default)]
    pub(super) thought: Option<bool>,
    #[serde(borrow, default)]
    pub(super) thought_signature: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) function_call: Option<FunctionCall<'a>>,
}

#[derive(Deserialize)]
pub(super) struct FunctionCall<'a> {
    #[serde(borrow, default)]
    pub(super) id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) name: Option<Text<'a>>,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
}

impl<'a> FunctionCall<'a> {
    /// The arguments: an object, or its text.
    pub(super) fn args(&self) -> Option<Cow<'a, str>> {
        let args = self.args?.get();
        if args.starts_with('"') { serde_json::from_str(args).ok() } else { Some(Cow::Borrowed(args)) }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PromptFeedback<'a> {
    #[serde(borrow, default)]
    block_reason: Option<Text<'a>>,
    #[serde(borrow, default)]
    block_reason_message: Option<Text<'a>>,
}

impl PromptFeedback<'_> {
    /// The problem with the prompt, if it was blocked.
    pub(super) fn block(&self) -> Option<String> {
        let reason = self.block_reason.as_ref()?;
        let message = self.block_reason_message.as_ref().map(|message| format!(": {}", message.0));
        Some(format!("the service blocked the prompt ({}){}", reason.0, message.unwrap_or_default()))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub(super) struct UsageMetadata {
    prompt_token_count: Count,
    cached_content_token_count: Count,
    candidates_token_count: Count,
    thoughts_token_count: Count,
    tool_use_prompt_token_count: Count,
    total_token_count: Count,
}

impl UsageMetadata {
    /// The prompt count includes cached tokens; the candidate count excludes thoughts.
    pub(super) fn to_usage(&self) -> Usage {
        let cache_read = self.cached_content_token_count.0;
        let prompt = self.prompt_token_count.0.saturating_sub(cache_read);
        Usage {
            input: prompt.saturating_add(self.tool_use_prompt_token_count.0),
            output: self.candidates_token_count.0.saturating_add(self.thoughts_token_count.0),
            cache_read,
            cache_write: 0,
            total_tokens: self.total_token_count.0,
        }
    }
}

/// The error that the service reports.
#[derive(Deserialize)]
pub(super) struct ErrorStatus<'a> {
    #[serde(default)]
    code: Option<serde_json::Number>,
    #[serde(borrow, default)]
    status: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) message: Cow<'a, str>,
}

impl ErrorStatus<'_> {
    /// Its name, for instance `UNAVAILABLE`, or its number.
    pub(super) fn status(&self) -> Cow<'_, str> {
        match (&self.status, &self.code) {
            (Some(status), _) => Cow::Borrowed(&status.0),
            (None, Some(code)) => Cow::Owned(code.to_string()),
            (None, None) => Cow::Borrowed("error"),
        }
    }
}
