//! The interface of encoders and decoders.

use std::collections::VecDeque;

use rheon_types::{Chunk, ProviderError, Request};

use crate::catalog::Model;
use crate::compat::Compat;
use crate::frame::Frame;

/// A request with everything its encoder needs.
#[derive(Debug, Clone, Copy)]
pub struct WireRequest<'a> {
    /// The request.
    pub request: &'a Request,
    /// The model's properties.
    pub model: &'a Model,
    /// The compatibility flags of the service.
    pub compat: &'a Compat,
    /// The target as `vendor/model`.
    pub origin: &'a str,
}

/// Decodes the frames of one response into chunks.
pub trait Decoder: Send {
    /// Decodes one frame. An error ends the response.
    fn frame(&mut self, frame: Frame<'_>, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError>;

    /// Decodes a response that was not streamed: one JSON object, which is complete.
    fn whole(&mut self, json: &str, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        self.frame(Frame { name: "", data: json }, chunks)
    }

    /// What the model wrote, if the service refused it in an error.
    fn failed_generation(&mut self) -> Option<String> {
        None
    }

    /// Ends the body. Adds `Done` if this service ends its responses like this; otherwise the response counts as cut.
    fn finish(&mut self, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError>;
}
