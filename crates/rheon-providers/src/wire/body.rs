//! The body of a request: JSON, written into one buffer.

use rheon_types::{ProviderError, ProviderErrorKind};
use serde::Serialize;

use crate::fit::Fitted;

/// What stands around the conversation: settings, a short system prompt, a few tools.
const FRAME_BYTES: usize = 4 * 1024;
/// What stands around a block: its role, its kind, its braces.
const BLOCK_BYTES: usize = 96;

/// Writes `body`, which is a request with the conversation `fitted`. The buffer is taken as large as will be needed, as
/// far as that can be told beforehand: growing it means copying it, and the service waits meanwhile.
pub(super) fn write(body: &impl Serialize, fitted: &Fitted<'_>) -> Result<Vec<u8>, ProviderError> {
    let mut bytes = Vec::with_capacity(expected_bytes(fitted));
    match serde_json::to_writer(&mut bytes, body) {
        Ok(()) => Ok(bytes),
        Err(error) => {
            let message = format!("the request cannot be written as JSON: {error}");
            Err(ProviderError::new(ProviderErrorKind::InvalidRequest, message))
        }
    }
}

/// An eighth more than the text itself is for line ends and quotes, which take two bytes.
fn expected_bytes(fitted: &Fitted<'_>) -> usize {
    let (blocks, text_bytes) = fitted.size();
    FRAME_BYTES
        .saturating_add(text_bytes)
        .saturating_add(text_bytes / 8)
        .saturating_add(blocks.saturating_mul(BLOCK_BYTES))
}
