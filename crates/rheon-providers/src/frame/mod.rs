//! Frames: the bytes of an answer, cut into events. Incremental, whatever the pieces in which the bytes arrive.

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

/// How a body is cut into frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events (`text/event-stream`).
    Sse,
    /// `application/vnd.amazon.eventstream`: binary frames with checksums.
    EventStream,
    /// One JSON value per line.
    Lines,
}

/// Cuts one body into frames.
pub enum FrameDecoder {
    /// By the rules of server-sent events.
    Sse(SseDecoder),
    /// By the lengths in binary frames.
    EventStream(EventStreamDecoder),
    /// At line ends.
    Lines(LineDecoder),
}

impl FrameDecoder {
    /// A decoder at the start of a body.
    pub fn new(framing: Framing) -> Self {
        match framing {
            Framing::Sse => Self::Sse(SseDecoder::new()),
            Framing::EventStream => Self::EventStream(EventStreamDecoder::new()),
            Framing::Lines => Self::Lines(LineDecoder::new()),
        }
    }

    /// Takes in the next bytes and hands on each frame that they complete. Ends at the first error.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut FrameSink<'_>) -> Result<(), ProviderError> {
        match self {
            Self::Sse(decoder) => decoder.feed(bytes, sink),
            Self::EventStream(decoder) => decoder.feed(bytes, sink),
            Self::Lines(decoder) => decoder.feed(bytes, sink),
        }
    }

    /// The body has ended: hands on what stands complete but unterminated.
    pub fn finish(&mut self, sink: &mut FrameSink<'_>) -> Result<(), ProviderError> {
        match self {
            Self::Sse(decoder) => decoder.finish(sink),
            Self::EventStream(decoder) => decoder.finish(sink),
            Self::Lines(decoder) => decoder.finish(sink),
        }
    }
}
