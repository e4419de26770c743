//! Responses to other requests than model calls: context windows, model lists, token counts, tokens.

use rheon_providers::wire::WireKind;
use serde_json::{Value, json};

use super::script::Script;

/// The assumed bytes per token.
const BYTES_PER_TOKEN: usize = 4;

/// The token count of a request of this many bytes.
pub(crate) fn count(wire: WireKind, bytes: usize) -> Value {
    let tokens = bytes.div_ceil(BYTES_PER_TOKEN);
    match wire {
        WireKind::Anthropic => json!({"input_tokens": tokens}),
        WireKind::Responses => json!({"object": "response.input_tokens", "input_tokens": tokens}),
        WireKind::Gemini => json!({
            "totalTokens": tokens,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": tokens}],
        }),
        WireKind::Chat | WireKind::Bedrock => json!({"inputTokens": tokens}),
    }
}

/// llama.cpp's properties.
pub(crate) fn props(script: &Script) -> Value {
    json!({
        "default_generation_settings": {"id": 0, "n_ctx": script.context_tokens, "params": {}},
        "total_slots": 1,
        "model_path": "fake-model.gguf",
        "modalities": {"vision": false, "audio": false},
        "build_info": "b0-fake",
    })
}

/// Ollama's description of a model.
pub(crate) fn show(script: &Script) -> Value {
    json!({
        "parameters": format!("num_ctx                        {}", script.context_tokens),
        "details": {"format": "gguf", "family": "fake", "parameter_size": "1B", "quantization_level": "Q4_0"},
        "model_info": {"general.architecture": "fake", "fake.context_length": script.context_tokens},
        "capabilities": ["completion", "tools"],
    })
}

/// A model list with the context window in the fields of vLLM, LM Studio, OpenRouter, llama.cpp and Gemini.
pub(crate) fn models(script: &Script) -> Value {
    let tokens = script.context_tokens;
    json!({
        "object": "list",
        "data": [{
            "id": "fake-model",
            "object": "model",
            "created": 1_700_000_000,
            "owned_by": "fake",
            "max_model_len": tokens,
            "max_context_length": tokens,
            "loaded_context_length": tokens,
            "context_length": tokens,
            "meta": {"n_ctx_train": tokens},
        }],
        "models": [{
            "name": "models/fake-model",
            "inputTokenLimit": tokens,
            "outputTokenLimit": 8_192,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        }],
        "has_more": false,
        "first_id": "fake-model",
        "last_id": "fake-model",
    })
}

/// An OAuth token, different each time.
pub(crate) fn token(number: usize) -> Value {
    json!({
        "access_token": format!("fake-token-{number}"),
        "token_type": "Bearer",
        "expires_in": 3_600,
        "scope": "fake",
    })
}

/// A health check.
pub(crate) fn root() -> Value {
    json!({"status": "ok", "what": "rheon-fake-model"})
}
