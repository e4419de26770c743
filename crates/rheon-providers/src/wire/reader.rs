//! `ResponseReader`: the bytes of one answer become chunks. Frames and wire put together; pure.

use std::collections::VecDeque;
use std::sync::Arc;

use rheon_types::{Chunk, ProviderError};

use super::{Decoder, WireKind};
use crate::frame::{FrameDecoder, Framing};

/// Reads one answer, whatever the pieces in which its bytes arrive.
pub struct ResponseReader {
    frames: FrameDecoder,
    decoder: Box<dyn Decoder>,
}

impl ResponseReader {
    /// Reads an answer of the model `origin` (`vendor/model`) on `wire`, cut into frames by `framing`.
    pub fn new(wire: WireKind, framing: Framing, origin: impl Into<Arc<str>>) -> Self {
        Self { frames: FrameDecoder::new(framing), decoder: wire.decoder(origin.into()) }
    }

    /// Takes in the next bytes. What they complete is added to `chunks`, also if an error follows it.
    pub fn feed(&mut self, bytes: &[u8], chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let decoder = &mut self.decoder;
        self.frames.feed(bytes, &mut |frame| decoder.frame(frame, chunks))
    }

    /// The body has ended.
    pub fn finish(&mut self, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let decoder = &mut self.decoder;
        self.frames.finish(&mut |frame| decoder.frame(frame, chunks))?;
        self.decoder.finish(chunks)
    }
}
