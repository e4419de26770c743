//! `Compat`: how services that use the same wire differ. Data, read from vendor files.

use serde::Deserialize;

use crate::call_id::CallIdRule;

/// The compatibility flags of a service. The defaults fit most services that use the chat wire.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Compat {
    /// The name of the output limit field.
    pub tokens_field: TokensField,
    /// The role of the system prompt.
    pub system_role: SystemRole,
    /// How thinking is requested.
    pub thinking: ThinkingRequest,
    /// Whether and how thinking is sent back to the service.
    pub thinking_replay: ThinkingReplay,
    /// Whether the service reports usage in the stream on request.
    pub stream_usage: bool,
    /// Whether a tool result must name its tool.
    pub tool_result_name: bool,
    /// Whether an assistant message is required between a tool result and the next user message.
    pub assistant_after_tool_result: bool,
    /// Which tool call ids the service accepts.
    pub call_id: CallIdRule,
    /// How structured output is requested.
    pub structured_output: StructuredOutput,
    /// How the prompt is marked for caching.
    pub cache: CacheStyle,
    /// Whether to ask the service not to store the response.
    pub store_false: bool,
    /// How the model receives tools.
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

/// The name of the output limit field on the chat wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokensField {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

/// The role of the system prompt on the chat and responses wires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemRole {
    /// `system`.
    System,
    /// `developer`.
    Developer,
}

/// How thinking is requested on the chat wire.
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

/// Whether and how the model's own thinking is sent back on the chat wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingReplay {
    /// Not sent back.
    None,
    /// As `reasoning_content` of the assistant message.
    ReasoningContent,
    /// As `reasoning` of the assistant message.
    Reasoning,
    /// As `reasoning_details`, byte for byte (OpenRouter).
    ReasoningDetails,
}

/// How structured output is requested on the chat wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StructuredOutput {
    /// `response_format: {"type": "json_schema", ...}`.
    JsonSchema,
    /// `response_format: {"type": "json_object"}`; the schema goes into the prompt.
    JsonObject,
    /// The schema goes into the prompt; the service does not enforce it.
    Prompt,
}

/// How a prompt is marked for caching.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheStyle {
    /// Not marked: the service has no cache, or caches automatically.
    None,
    /// `cache_control` on content blocks (Anthropic; OpenRouter for Anthropic's models).
    Marks,
    /// `cachePoint` blocks (Bedrock).
    Points,
    /// `prompt_cache_key` (OpenAI).
    Key,
}

/// How the model receives tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStyle {
    /// In the request.
    Native,
    /// In the request; tool calls written as text are recovered too.
    Lenient,
    /// In the prompt, with structured output.
    Prompted,
}
