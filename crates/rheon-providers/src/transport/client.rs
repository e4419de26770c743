//! `Transport`: one HTTP client for all calls, so that connections are used again.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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

/// How much of an answer to a report is read.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// One HTTP client. Cheap to clone; clones share their connections.
#[derive(Debug, Clone)]
pub struct Transport {
    clients: Arc<Clients>,
    /// The origins to which there may be a connection that waits to be used again.
    answered: Arc<Mutex<HashSet<String>>>,
    config: Arc<TransportConfig>,
}

/// What a server says of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostResponse {
    /// The status.
    pub status: u16,
    /// How long it asks to wait before the next try.
    pub retry_after_ms: Option<u64>,
    /// The beginning of its words.
    pub body: Bytes,
}

impl Transport {
    /// A client with these settings. The first request to a server that needs them reads the system's certificates (or those that
    /// `SSL_CERT_FILE` names) and, unless told otherwise, its proxy settings, which do not hold for this machine itself.
    pub fn new(config: TransportConfig) -> Result<Self, ProviderError> {
        let clients = Clients::new(&config)?;
        Ok(Self { clients: Arc::new(clients), answered: Arc::default(), config: Arc::new(config) })
    }

    /// How long an answer may go on without saying anything new.
    pub(crate) fn progress_timeout(&self) -> Duration {
        self.config.progress_timeout
    }

    /// The client itself, for small calls that need none of the limits for answers of models.
    pub(crate) fn client(&self) -> Result<&reqwest::Client, ProviderError> {
        self.clients.usual(&self.config)
    }

    /// Does beforehand, on this thread, what the first request to `url` would wait for besides the server. What goes wrong is told
    /// by that request.
    pub(crate) fn prepare(&self, url: &Url) {
        self.clients.at(url, &self.config).ok();
    }

    /// The same client, shared connections included, with another limit for the head of an answer.
    pub fn with_first_byte_timeout(&self, first_byte_timeout: Duration) -> Self {
        let config = TransportConfig { first_byte_timeout, ..TransportConfig::clone(&self.config) };
        Self { config: Arc::new(config), ..self.clone() }
    }

    /// Posts a report that is no call of a model and waits for what the server says of it, whatever that is.
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
        // A connection whose answer is not read to its end cannot be used again.
        let body = response.read_what_comes(ANSWER_BYTES_MAX).await;
        Ok(PostResponse { status, retry_after_ms, body })
    }

    /// Sends `request` and waits for the head of the answer, whatever its status. Redirects are followed
    /// within the origin only: what proves who sends the request never goes elsewhere.
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

    /// One exchange. A server may close a connection that waits to be used again just when it is; such a request is sent once
    /// more, on another connection.
    async fn exchange(
        &self,
        request: &HttpRequest,
        url: &Url,
        deadline: Instant,
    ) -> Result<reqwest::Response, ProviderError> {
        let client = self.clients.at(url, &self.config)?;
        let mut may_be_stale = self.answered().contains(&redirect::origin(url));
        loop {
            match timeout_at(deadline, client.execute(to_send(request, url))).await {
                Ok(Ok(response)) => {
                    self.answered().insert(redirect::origin(url));
                    return Ok(response);
                }
                Ok(Err(error)) if may_be_stale && failure::is_closed(&error) => may_be_stale = false,
                Ok(Err(error)) => return Err(failure::describe(error, url, Stage::Send)),
                Err(_) => return Err(failure::no_answer(url, self.config.first_byte_timeout)),
            }
        }
    }

    fn answered(&self) -> MutexGuard<'_, HashSet<String>> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn to_send(request: &HttpRequest, url: &Url) -> reqwest::Request {
    let mut sent = reqwest::Request::new(request.method.clone(), url.clone());
    *sent.headers_mut() = request.headers.clone();
    *sent.body_mut() = Some(request.body.clone().into());
    sent
}
