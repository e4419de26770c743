//! Counts for a model that nobody named: what the loop adds up while a service reports nothing.

use rheon_types::{AgentMessage, Content};

use super::tokens::TokenCounter;

/// The tokens of one message, tool calls and results included.
pub(crate) fn estimate_tokens(message: &AgentMessage) -> u64 {
    TokenCounter::default().entry(message)
}

/// The tokens of one block.
pub(crate) fn estimate_block(block: &Content) -> u64 {
    TokenCounter::default().block(block)
}
