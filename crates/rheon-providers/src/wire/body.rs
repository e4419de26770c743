//! Serializes a request body to JSON in one buffer.

use rheon_types::{ProviderError, ProviderErrorKind};
use serde::Serialize;

use crate::history::PreparedHistory;

/// The estimated size of settings, a short system prompt and a few tools.
const FRAME_BYTES: usize = 4 * 1024;
/// The estimated overhead of a block.
const BLOCK_BYTES: usize = 96;

/// Serializes `body`, a request with the conversation `history`. The buffer is allocated at its expected size: growing
/// it means copying while the service waits.
pub(super) fn write(body: &impl Serialize, history: &PreparedHistory<'_>) -> Result<Vec<u8>, ProviderError> {
    let mut bytes = Vec::with_capacity(expected_bytes(history));
    match serde_json::to_writer(&mut bytes, body) {
        Ok(()) => Ok(bytes),
        Err(error) => {
            let message = format!("cannot serialize the request: {error}");
            Err(ProviderError::new(ProviderErrorKind::InvalidRequest, message))
        }
    }
}

/// Adds an eighth of the text size for escaped line ends and quotes.
fn expected_bytes(history: &PreparedHistory<'_>) -> usize {
    let (blocks, text_bytes) = history.size();
    FRAME_BYTES
        .saturating_add(text_bytes)
        .saturating_add(text_bytes / 8)
        .saturating_add(blocks.saturating_mul(BLOCK_BYTES))
}
