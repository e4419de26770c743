//! What the definitions of tools take of a window.

use std::sync::Arc;

use rheon_agent::TokenCounter;
use rheon_types::Tool;
use serde_json::json;

/// How many tokens the definitions of `tools` have.
pub(super) fn tool_tokens(counter: TokenCounter, tools: &[Arc<dyn Tool>]) -> u64 {
    let tokens = tools.iter().map(|tool| {
        let definition = json!({
            "name": tool.name(), "description": tool.description(), "schema": tool.parameters_schema(),
        });
        counter.text(&definition.to_string())
    });
    tokens.sum()
}
