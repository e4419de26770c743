//! `Frame`: one event of a stream, and the sink that receives it.

use std::borrow::Cow;

use rheon_types::{ProviderError, ProviderErrorKind};

/// The maximum size of a frame.
pub const FRAME_BYTES_MAX: usize = 8 * 1024 * 1024;

/// One event of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The type: the `event` field of server-sent events, the `:event-type` or `:exception-type` of an event stream;
    /// may be empty.
    pub name: &'a str,
    /// The content, usually JSON. Invalid UTF-8 is replaced by U+FFFD.
    pub data: &'a str,
}

/// Receives the frames.
pub type FrameSink<'a> = dyn FnMut(Frame<'_>) -> Result<(), ProviderError> + 'a;

/// The error for a frame larger than [`FRAME_BYTES_MAX`]. Not worth a retry.
pub(crate) fn too_large() -> ProviderError {
    ProviderError::new(
        ProviderErrorKind::Api,
        format!("an event in the response is larger than {FRAME_BYTES_MAX} bytes"),
    )
}

/// Bytes as text, borrowed if they are valid UTF-8; invalid bytes become U+FFFD.
pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}
