//! `HttpProvider`: combines wire, auth and transport into a provider.

mod body;
mod count;
mod exchange;
mod optional_fields;
mod refused;
mod shared;
mod stream;

use std::sync::Arc;

use rheon_types::{Answer, ChunkStream, Clock, ModelInfo, Provider, Request};
use tokio_util::sync::CancellationToken;

use crate::auth::Authorizer;
use crate::transport::Transport;

pub(crate) use shared::Endpoint;
use shared::{Models, Shared};

/// A model service over HTTP.
#[derive(Clone)]
pub(crate) struct HttpProvider {
    shared: Arc<Shared>,
}

impl HttpProvider {
    /// Creates a provider for `endpoint`.
    pub(crate) fn new(
        endpoint: Endpoint,
        authorizer: Arc<dyn Authorizer>,
        transport: Transport,
        models: Models,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let transport = match endpoint.first_byte_timeout {
            Some(limit) => transport.with_first_byte_timeout(limit),
            None => transport,
        };
        let (estimator, refused_fields) = Default::default();
        let shared = Shared { endpoint, authorizer, transport, models, clock, estimator, refused_fields };
        Self { shared: Arc::new(shared) }
    }

    /// Estimates the tokens of the prompt of `request` from its size and earlier reports of the service.
    pub(crate) fn estimate(&self, request: &Request) -> u64 {
        self.shared.estimator.estimate(request)
    }
}

impl Provider for HttpProvider {
    fn id(&self) -> &str {
        &self.shared.endpoint.id
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> ChunkStream {
        stream::open(Arc::clone(&self.shared), request, cancel)
    }

    fn describe(&self, model: &str) -> Option<Arc<ModelInfo>> {
        Some(Arc::clone(&(self.shared.models)(model).info))
    }

    /// The service's own count if it gives one, otherwise [`HttpProvider::estimate`].
    fn count_tokens<'a>(&'a self, request: &'a Request) -> Answer<'a, Option<u64>> {
        let Some(url) = &self.shared.endpoint.count_url else {
            return Answer::Now(Some(self.estimate(request)));
        };
        Answer::later(async move {
            let counted = count::request_count(&self.shared, url, request).await;
            Some(counted.unwrap_or_else(|| self.estimate(request)))
        })
    }
}

#[cfg(test)]
mod count_tests;
#[cfg(test)]
mod optional_fields_tests;
#[cfg(test)]
mod service_tests;
#[cfg(test)]
mod stream_tests;
#[cfg(test)]
mod testing;
