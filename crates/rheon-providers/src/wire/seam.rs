//! What an encoder is given and what a decoder does: the seam between the wires and those who use them.

use std::collections::VecDeque;

use rheon_types::{Chunk, ProviderError, Request};

use crate::catalog::Model;
use crate::compat::Compat;
use crate::frame::Frame;

/// One request, with what its encoder has to know of model and service.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// What is asked.
    pub request: &'a Request,
    /// What is known of the model.
    pub model: &'a Model,
    /// How the service differs from others of its wire.
    pub compat: &'a Compat,
    /// Who is asked, as `vendor/model`.
    pub origin: &'a str,
}

/// Turns the frames of one answer into chunks.
pub trait Decoder: Send {
    /// Takes in one frame. An error ends the answer.
    fn frame(&mut self, frame: Frame<'_>, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError>;

    /// The body has ended. Adds `Done` if this service ends its answers so; otherwise the answer counts as cut.
    fn finish(&mut self, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError>;
}
