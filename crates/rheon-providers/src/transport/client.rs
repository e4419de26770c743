//! `Transport`: one HTTP client for all calls, so that connections are reused.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rheon_types::{ProviderError, Timestamp};
use secrecy::SecretString;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::clients::Clients;
use super::config::TransportConfig;
use super::failure::{self, Stage};
use super::redirect;
use super::{HttpRequest, HttpResponse};
use crate::error;

/// How much of the response to a post is read.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// An HTTP client. Cheap to clone; clones share connections.
#[derive(Debug, Clone)]
pub struct Transport {
    clients: Arc<Clients>,
    config: Arc<TransportConfig>,
}

/// The response to [`Transport::post`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostResponse {
    /// The HTTP status.
    pub status: u16,
    /// The delay that the server asks for.
    pub retry_after_ms: Option<u64>,
    /// The start of the body.
    pub body: Bytes,
}

impl Transport {
    /// Creates a client. The first request that needs them reads the system's certificates (or those in
    /// `SSL_CERT_FILE`) and, by default, its proxy settings, which do not apply to local servers.
    pub fn new(config: TransportConfig) -> Result<Self, ProviderError> {
        let clients = Clients::new(&config)?;
        Ok(Self { clients: Arc::new(clients), config: Arc::new(config) })
    }

    /// How long a response may continue without progress.
    pub(crate) fn progress_timeout(&self) -> Duration {
        self.config.progress_timeout
    }

    /// The underlying client, for small requests that do not need the limits of model responses.
    pub(crate) fn client(&self) -> Result<&reqwest::Client, ProviderError> {
        self.clients.remote(&self.config)
    }

    /// Does the slow set-up for requests to `url` in advance, on this thread. Errors are reported by the first
    /// request.
    pub(crate) fn prepare(&self, url: &Url) {
        self.clients.at(url, &self.config).ok();
    }

    /// The same client and connections with another limit for the response head.
    pub fn with_first_byte_timeout(&self, first_byte_timeout: Duration) -> Self {
        let config = TransportConfig { first_byte_timeout, ..TransportConfig::clone(&self.config) };
        Self { config: Arc::new(config), ..self.clone() }
    }

    /// Posts data that is not a model request and returns the response, whatever its status.
    pub async fn post(
        &self,
        url: &str,
        headers: &[(String, SecretString)],
        body: Bytes,
        now: Timestamp,
    ) -> Result<PostResponse, ProviderError> {
        let request = HttpRequest::post(url, headers, body)?;
        let mut response = self.send(&request).await?;
        let status = response.status().as_u16();
        let retry_after_ms = error::retry_after(response.headers(), now);
        // A connection whose response is not read to the end cannot be reused.
        let body = response.read_available(ANSWER_BYTES_MAX).await;
        Ok(PostResponse { status, retry_after_ms, body })
    }

    /// Sends `request` and waits for the response head. Follows redirects within the same origin only: credentials are
    /// never sent elsewhere.
    pub(crate) async fn send(&self, request: &HttpRequest) -> Result<HttpResponse, ProviderError> {
        let deadline = Instant::now() + self.config.first_byte_timeout;
        let mut url = request.url.clone();
        for _ in 0..=self.config.redirects_max {
            let response = self.exchange(request, &url, deadline).await?;
            match redirect::target(&url, response.status(), response.headers())? {
                Some(next) => url = next,
                None => return Ok(HttpResponse::new(response, url, Arc::clone(&self.config))),
            }
        }
        Err(redirect::too_many(&url, self.config.redirects_max))
    }

    /// One exchange. A request that the server may have taken is never sent again here: the caller decides, and its
    /// user sees it.
    async fn exchange(
        &self,
        request: &HttpRequest,
        url: &Url,
        deadline: Instant,
    ) -> Result<reqwest::Response, ProviderError> {
        let client = self.clients.at(url, &self.config)?;
        match timeout_at(deadline, client.execute(to_send(request, url))).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(failure::describe(error, url, Stage::Send)),
            Err(_) => Err(failure::no_response(url, self.config.first_byte_timeout)),
        }
    }
}

fn to_send(request: &HttpRequest, url: &Url) -> reqwest::Request {
    let mut sent = reqwest::Request::new(request.method.clone(), url.clone());
    *sent.headers_mut() = request.headers.clone();
    *sent.body_mut() = Some(request.body.clone().into());
    sent
}
