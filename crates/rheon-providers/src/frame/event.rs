//! `Frame`: one event of a stream, and what takes it.

use std::borrow::Cow;

use rheon_types::{ProviderError, ProviderErrorKind};

/// The most bytes one frame may have.
pub const FRAME_BYTES_MAX: usize = 8 * 1024 * 1024;

/// One event of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Its type: the `event` field of server-sent events, the `:event-type` or `:exception-type` of an event stream; may
    /// be empty.
    pub name: &'a str,
    /// Its content, usually JSON. Bytes that are no UTF-8 have become U+FFFD.
    pub data: &'a str,
}

/// What takes the frames.
pub type FrameSink<'a> = dyn FnMut(Frame<'_>) -> Result<(), ProviderError> + 'a;

/// The error of a frame that is larger than [`FRAME_BYTES_MAX`]. Not worth another try.
pub(crate) fn too_large() -> ProviderError {
    ProviderError::new(
        ProviderErrorKind::Api,
        format!("an event of the answer is larger than {FRAME_BYTES_MAX} bytes"),
    )
}

/// Bytes as text, borrowed where they are UTF-8; what is not becomes U+FFFD.
pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}
