//! One frame per non-blank line. Lines end in LF or CRLF.

use memchr::memchr;
use rheon_types::ProviderError;

use super::event::{FRAME_BYTES_MAX, Frame, FrameSink, text, too_large};

/// Splits a body into frames. Reads each byte once. After an error, further bytes are ignored.
#[derive(Debug, Default)]
pub struct LineDecoder {
    /// The incomplete line.
    line: Vec<u8>,
    ended: bool,
}

impl LineDecoder {
    /// Starts a new body.
    pub fn new() -> Self {
        Self::default()
    }

    /// Feeds the next bytes and passes each completed frame to `sink`.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut FrameSink<'_>) -> Result<(), ProviderError> {
        if self.ended {
            return Ok(());
        }
        let result = self.read(bytes, sink);
        if result.is_err() {
            (self.line, self.ended) = (Vec::new(), true);
        }
        result
    }

    /// Ends the body: a last line without a line end is passed on.
    pub fn finish(&mut self, sink: &mut FrameSink<'_>) -> Result<(), ProviderError> {
        self.ended = true;
        emit_frame(&std::mem::take(&mut self.line), sink)
    }

    fn read(&mut self, bytes: &[u8], sink: &mut FrameSink<'_>) -> Result<(), ProviderError> {
        let mut rest = bytes;
        while let Some((line, tail)) = memchr(b'\n', rest).and_then(|end| rest.split_at_checked(end)) {
            rest = tail.strip_prefix(b"\n").unwrap_or(tail);
            if self.line.is_empty() {
                emit_frame(line, sink)?;
            } else {
                self.save(line)?;
                emit_frame(&std::mem::take(&mut self.line), sink)?;
            }
        }
        self.save(rest)
    }

    fn save(&mut self, bytes: &[u8]) -> Result<(), ProviderError> {
        if self.line.len().saturating_add(bytes.len()) > FRAME_BYTES_MAX {
            return Err(too_large());
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }
}

fn emit_frame(line: &[u8], sink: &mut FrameSink<'_>) -> Result<(), ProviderError> {
    if line.len() > FRAME_BYTES_MAX {
        return Err(too_large());
    }
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.trim_ascii().is_empty() {
        return Ok(());
    }
    sink(Frame { name: "", data: &text(line) })
}
