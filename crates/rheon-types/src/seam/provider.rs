//! `Provider`: turns a request into a stream of chunks.

use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use tokio_util::sync::CancellationToken;

use crate::answer::Answer;
use crate::draft::DraftOutcome;
use crate::error::ProviderError;
use crate::model::ModelInfo;
use crate::request::{Chunk, Request};
use crate::usage::MicroUsd;

/// A model's answer, chunk by chunk.
pub type ChunkStream = Pin<Box<dyn Stream<Item = Result<Chunk, ProviderError>> + Send>>;

/// A model service.
pub trait Provider: Send + Sync {
    /// A stable lower-case name, for instance `anthropic`.
    fn id(&self) -> &str;

    /// Calls the model. Nothing is sent before the stream is polled. Dropping the stream or canceling ends the call.
    fn stream(&self, request: Request, cancel: CancellationToken) -> ChunkStream;

    /// The known window, limits and prices of a model. Never calls the service. For unknown models,
    /// [`ModelInfo::unknown`] has cautious defaults.
    fn describe(&self, _model: &str) -> Option<Arc<ModelInfo>> {
        None
    }

    /// The cost of one call, if known, at the price of the model that answered. If that model is unknown, the requested
    /// model's price is used, unless another provider answered.
    fn cost(&self, asked: &str, answered: &DraftOutcome) -> Option<MicroUsd> {
        let known = answered.model.as_deref().and_then(|model| self.describe(model));
        let known = known.filter(|info| info.prices.is_some());
        let info = match answered.provider {
            Some(_) => known,
            None => known.or_else(|| self.describe(asked)),
        };
        info.and_then(|info| info.cost(&answered.usage))
    }

    /// The service's own count of the prompt's tokens, if it offers one.
    fn count_tokens<'a>(&'a self, _request: &'a Request) -> Answer<'a, Option<u64>> {
        Answer::Now(None)
    }
}
