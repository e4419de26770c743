//! Frames: splits the bytes of a response into events. Incremental; the result does not depend on how the bytes are
//! chunked.

mod event;
mod event_stream;
mod lines;
mod sse;

#[cfg(test)]
mod event_stream_tests;
#[cfg(test)]
mod lines_tests;
#[cfg(test)]
mod sse_tests;
#[cfg(test)]
mod testing;

use rheon_types::ProviderError;

pub(crate) use event::too_large;
pub use event::{FRAME_BYTES_MAX, Frame, FrameSink};
pub use event_stream::EventStreamDecoder;
pub use lines::LineDecoder;
pub use sse::SseDecoder;

/// How a body is split into frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events (`text/event-stream`).
    Sse,
    /// `application/vnd.amazon.eventstream`: binary frames with checksums.
    EventStream,
    /// One JSON value per line.
    Lines,
}

/// Splits a body into frames.
pub enum FrameDecoder {
    /// Server-sent events.
    Sse(SseDecoder),
    /// Binary frames.
    EventStream(EventStreamDecoder),
    /// Lines.
    Lines(LineDecoder),
}

impl FrameDecoder {
    /// Creates a decoder for a new body.
    pub fn new(framing: Framing) -> Self {
        match framing {
            Framing::Sse => Self::Sse(SseDecoder::new()),
            Framing::EventStream => Self::EventStream(EventStreamDecoder::new()),
            Framing::Lines => Self::Lines(LineDecoder::new()),
        }
    }

    /// Feeds the next bytes and passes each completed frame to `sink`. Stops at the first error.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut FrameSink<'_>) -> Result<(), ProviderError> {
        match self {
            Self::Sse(decoder) => decoder.feed(bytes, sink),
            Self::EventStream(decoder) => decoder.feed(bytes, sink),
            Self::Lines(decoder) => decoder.feed(bytes, sink),
        }
    }

    /// Ends the body: passes on a frame that is complete but unterminated.
    pub fn finish(&mut self, sink: &mut FrameSink<'_>) -> Result<(), ProviderError> {
        match self {
            Self::Sse(decoder) => decoder.finish(sink),
            Self::EventStream(decoder) => decoder.finish(sink),
            Self::Lines(decoder) => decoder.finish(sink),
        }
    }
}
