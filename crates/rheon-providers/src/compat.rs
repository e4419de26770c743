//! `Compat`: how services that speak one wire format differ. Data, read from vendor files.

use serde::Deserialize;

use crate::call_id::CallIdRule;

/// The flags of one service. The defaults are what most services of the chat wire do.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Compat {
    /// How the limit of the answer is called.
    pub tokens_field: TokensField,
    /// Who says the system prompt.
    pub system_role: SystemRole,
    /// How thinking is asked for.
    pub thinking: ThinkingRequest,
    /// Whether and how thinking goes back to the service.
    pub thinking_replay: ThinkingReplay,
    /// Whether the service reports usage in the stream when asked to.
    pub stream_usage: bool,
    /// Whether a tool result must name its tool.
    pub tool_result_name: bool,
    /// Whether an assistant message must stand between a tool result and the user.
    pub assistant_after_tool_result: bool,
    /// Which ids of tool calls the service takes.
    pub call_id: CallIdRule,
    /// How an answer is held to a schema.
    pub structured_output: StructuredOutput,
    /// How the prompt is marked for the service's cache.
    pub cache: CacheStyle,
    /// Whether the service must be told not to keep the answer.
    pub store_false: bool,
    /// How the model gets its tools.
    pub tools: ToolStyle,
}

impl Default for Compat {
    fn default() -> Self {
        Self {
            tokens_field: TokensField::MaxTokens,
            system_role: SystemRole::System,
            thinking: ThinkingRequest::Effort,
            thinking_replay: ThinkingReplay::None,
            stream_usage: true,
            tool_result_name: false,
            assistant_after_tool_result: false,
            call_id: CallIdRule::Any,
            structured_output: StructuredOutput::JsonSchema,
            cache: CacheStyle::None,
            store_false: false,
            tools: ToolStyle::Native,
        }
    }
}

/// How the limit of the answer is called on the chat wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokensField {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

/// Who says the system prompt on the chat and responses wires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemRole {
    /// `system`.
    System,
    /// `developer`.
    Developer,
}

/// How thinking is asked for on the chat wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingRequest {
    /// Not at all: the service has no setting.
    None,
    /// `reasoning_effort: "low"`.
    Effort,
    /// `reasoning: {"effort": "low"}` (OpenRouter, Vercel).
    ReasoningObject,
    /// `thinking: {"type": "enabled"}` or `"disabled"` (Z.ai, Moonshot, DeepSeek).
    ThinkingType,
    /// `enable_thinking: true` and `thinking_budget` (Qwen).
    EnableThinking,
    /// `chat_template_kwargs: {"enable_thinking": true}` (vLLM, llama.cpp, NVIDIA).
    TemplateKwargs,
}

/// Whether and how the model's own thinking goes back on the chat wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingReplay {
    /// It does not.
    None,
    /// As `reasoning_content` of the assistant message.
    ReasoningContent,
    /// As `reasoning` of the assistant message.
    Reasoning,
    /// As `reasoning_details`, byte for byte (OpenRouter).
    ReasoningDetails,
}

/// How an answer is held to a schema on the chat wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StructuredOutput {
    /// `response_format: {"type": "json_schema", ...}`.
    JsonSchema,
    /// `response_format: {"type": "json_object"}`; the schema goes into the prompt.
    JsonObject,
    /// The schema goes into the prompt and nothing holds the model to it.
    Prompt,
}

/// How a prompt is marked for a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheStyle {
    /// It is not: the service has no cache or finds out by itself.
    None,
    /// `cache_control` on content blocks (Anthropic; OpenRouter for Anthropic's models).
    Marks,
    /// `cachePoint` blocks (Bedrock).
    Points,
    /// `prompt_cache_key` (OpenAI).
    Key,
}

/// How the model gets its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStyle {
    /// In the request's own field.
    Native,
    /// The same, and calls that the model writes as text are recovered.
    Lenient,
    /// In the prompt, with the answer held to a schema.
    Prompted,
}
