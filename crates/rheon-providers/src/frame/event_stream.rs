//! Binary frames of `application/vnd.amazon.eventstream`. A body of JSON lines is accepted too.

use aws_smithy_eventstream::frame::read_message_from;
use aws_smithy_types::event_stream::{HeaderValue, Message};
use rheon_types::{ProviderError, ProviderErrorKind};

use super::event::{FRAME_BYTES_MAX, Frame, FrameSink, text, too_large};
use super::lines::LineDecoder;
use crate::error::malformed;

/// The frame length, the header length and their checksum.
const PRELUDE_BYTES: usize = 12;

/// Larger buffers are freed after their frame.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// Splits a body into frames.
///
/// The name of a frame is its `:event-type`, or its `:exception-type` or `:error-code` if it reports an error; the
/// data of an error is its `:error-message`. After an error, further bytes are ignored.
#[derive(Debug, Default)]
pub struct EventStreamDecoder {
    form: Form,
    /// The incomplete frame; shorter than its prelude says.
    frame: Vec<u8>,
}

#[derive(Debug, Default)]
enum Form {
    /// No bytes received yet.
    #[default]
    Unknown,
    Binary,
    Lines(LineDecoder),
    Ended,
}

impl EventStreamDecoder {
    /// Starts a new body.
    pub fn new() -> Self {
        Self::default()
    }

    /// Feeds the next bytes and passes each completed frame to `sink`.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut FrameSink<'_>) -> Result<(), ProviderError> {
        if matches!(self.form, Form::Unknown) {
            self.form = match bytes.first() {
                None => return Ok(()),
                // As the first byte of a length, this would mean a frame far above the limit.
                Some(b'{') => Form::Lines(LineDecoder::new()),
                Some(_) => Form::Binary,
            };
        }
        let result = match &mut self.form {
            Form::Unknown | Form::Ended => Ok(()),
            Form::Binary => self.read(bytes, sink),
            Form::Lines(lines) => lines.feed(bytes, sink),
        };
        if result.is_err() {
            (self.form, self.frame) = (Form::Ended, Vec::new());
        }
        result
    }

    /// Ends the body. An incomplete frame means that the connection was lost.
    pub fn finish(&mut self, sink: &mut FrameSink<'_>) -> Result<(), ProviderError> {
        match std::mem::replace(&mut self.form, Form::Ended) {
            Form::Lines(mut lines) => lines.finish(sink),
            Form::Binary if !self.frame.is_empty() => {
                self.frame = Vec::new();
                Err(ProviderError::new(
                    ProviderErrorKind::Network,
                    "the connection was lost in the middle of an event; try again",
                ))
            }
            Form::Unknown | Form::Binary | Form::Ended => Ok(()),
        }
    }

    fn read(&mut self, bytes: &[u8], sink: &mut FrameSink<'_>) -> Result<(), ProviderError> {
        let mut rest = bytes;
        while !self.frame.is_empty() {
            // The prelude comes first: it says how many bytes follow.
            let needed = frame_bytes(&self.frame)?.unwrap_or(PRELUDE_BYTES);
            if needed == self.frame.len() {
                emit_frame(&self.frame, sink)?;
                self.reset();
                break;
            }
            let missing = needed.saturating_sub(self.frame.len());
            let (taken, tail) = rest.split_at_checked(missing).unwrap_or((rest, &[]));
            if taken.is_empty() {
                return Ok(());
            }
            self.frame.extend_from_slice(taken);
            rest = tail;
        }
        while let Some((frame, tail)) = frame_bytes(rest)?.and_then(|length| rest.split_at_checked(length)) {
            emit_frame(frame, sink)?;
            rest = tail;
        }
        self.frame.extend_from_slice(rest);
        Ok(())
    }

    fn reset(&mut self) {
        if self.frame.capacity() > BUFFER_BYTES_MAX {
            self.frame = Vec::new();
        } else {
            self.frame.clear();
        }
    }
}

/// The length of the frame at the start of `bytes`, or `None` while its prelude is incomplete.
fn frame_bytes(bytes: &[u8]) -> Result<Option<usize>, ProviderError> {
    let Some(prelude) = bytes.first_chunk::<PRELUDE_BYTES>() else { return Ok(None) };
    let [a, b, c, d, lengths @ .., s, t, u, v] = *prelude;
    let [e, f, g, h] = lengths;
    if checksum(&[a, b, c, d, e, f, g, h]) != u32::from_be_bytes([s, t, u, v]) {
        return Err(malformed("the start of a binary event has a wrong checksum"));
    }
    match usize::try_from(u32::from_be_bytes([a, b, c, d])) {
        Ok(length) if length <= FRAME_BYTES_MAX && length > PRELUDE_BYTES => Ok(Some(length)),
        Ok(length) if length <= PRELUDE_BYTES => Err(malformed("a binary event has an impossible length")),
        Ok(_) | Err(_) => Err(too_large()),
    }
}

/// CRC-32 of a prelude.
fn checksum(bytes: &[u8]) -> u32 {
    let bit = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), bit))
}

fn emit_frame(frame: &[u8], sink: &mut FrameSink<'_>) -> Result<(), ProviderError> {
    let message = read_message_from(frame).map_err(|error| malformed(format!("a binary event: {error}")))?;
    match header(&message, ":message-type") {
        "exception" => {
            sink(Frame { name: header(&message, ":exception-type"), data: &text(message.payload()) })
        }
        "error" => {
            sink(Frame { name: header(&message, ":error-code"), data: header(&message, ":error-message") })
        }
        _ => sink(Frame { name: header(&message, ":event-type"), data: &text(message.payload()) }),
    }
}

/// The text of a header; empty if it is missing.
fn header<'a>(message: &'a Message, name: &str) -> &'a str {
    let header_value = message.headers().iter().find(|header| header.name().as_str() == name);
    match header_value.map(|header| header.value()) {
        Some(HeaderValue::String(value)) => value.as_str(),
        Some(_) | None => "",
    }
}
