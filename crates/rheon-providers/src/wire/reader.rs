//! `ResponseReader`: turns the bytes of a response into chunks. Combines frames and wire; pure.

use std::collections::VecDeque;
use std::sync::Arc;

use rheon_types::{Chunk, ProviderError};

use super::{Decoder, WireKind};
use crate::frame::{FrameDecoder, Framing};

/// Reads one response; the result does not depend on how its bytes are chunked.
pub struct ResponseReader {
    frames: FrameDecoder,
    decoder: Box<dyn Decoder>,
}

impl ResponseReader {
    /// Reads a response of the model `origin` (`vendor/model`) on `wire`, split into frames by `framing`.
    pub fn new(wire: WireKind, framing: Framing, origin: impl Into<Arc<str>>) -> Self {
        Self { frames: FrameDecoder::new(framing), decoder: wire.decoder(origin.into()) }
    }

    /// Feeds the next bytes. Completed chunks are added to `chunks`, even if an error follows.
    pub fn feed(&mut self, bytes: &[u8], chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let decoder = &mut self.decoder;
        self.frames.feed(bytes, &mut |frame| decoder.frame(frame, chunks))
    }

    /// Ends the body.
    pub fn finish(&mut self, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let decoder = &mut self.decoder;
        self.frames.finish(&mut |frame| decoder.frame(frame, chunks))?;
        self.decoder.finish(chunks)
    }
}
