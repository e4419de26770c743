//! `Transport`: one HTTP client for all calls, so that connections are used again.

use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use rheon_types::{ProviderError, ProviderErrorKind};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::config::{ProxyChoice, TransportConfig};
use super::failure::{self, Stage};
use super::redirect;
use super::{HttpRequest, HttpResponse};

/// How often a silent HTTP/2 peer is asked whether it is still there, and how long it may take to say so.
const PROBE_INTERVAL: Duration = Duration::from_secs(30);
const PROBE_TIMEOUT: Duration = Duration::from_secs(20);
/// After how many lost probes a TCP connection counts as gone.
const PROBES_MAX: u32 = 3;

/// One HTTP client. Cheap to clone; clones share their connections.
#[derive(Debug, Clone)]
pub struct Transport {
    client: reqwest::Client,
    config: Arc<TransportConfig>,
}

impl Transport {
    /// A client with these settings. Reads the system's certificates (or those that `SSL_CERT_FILE` names)
    /// and, unless told otherwise, its proxy settings.
    pub fn new(config: TransportConfig) -> Result<Self, ProviderError> {
        let mut builder = reqwest::Client::builder()
            .tls_backend_rustls()
            .redirect(Policy::none())
            .referer(false)
            .user_agent(&config.user_agent)
            .connect_timeout(config.connect_timeout)
            .pool_idle_timeout(config.pool_idle_timeout)
            .tcp_nodelay(true)
            .tcp_keepalive(PROBE_INTERVAL)
            .tcp_keepalive_interval(PROBE_TIMEOUT)
            .tcp_keepalive_retries(PROBES_MAX)
            .http2_adaptive_window(true)
            .http2_keep_alive_interval(PROBE_INTERVAL)
            .http2_keep_alive_timeout(PROBE_TIMEOUT);
        builder = match config.proxy {
            ProxyChoice::System => builder,
            ProxyChoice::Direct => builder.no_proxy(),
        };
        for pem in &config.extra_roots {
            let roots = reqwest::Certificate::from_pem_bundle(pem).map_err(|error| setup_failed(&error))?;
            builder = builder.tls_certs_merge(roots);
        }
        let client = builder.build().map_err(|error| setup_failed(&error))?;
        Ok(Self { client, config: Arc::new(config) })
    }

    /// How long an answer may go on without saying anything new.
    pub(crate) fn progress_timeout(&self) -> Duration {
        self.config.progress_timeout
    }

    /// The client itself, for small calls that need none of the limits for answers of models.
    pub(crate) fn client(&self) -> &reqwest::Client {
        &self.client
    }

    /// The same client, shared connections included, with another limit for the head of an answer.
    pub fn with_first_byte_timeout(&self, first_byte_timeout: Duration) -> Self {
        let config = TransportConfig { first_byte_timeout, ..TransportConfig::clone(&self.config) };
        Self { client: self.client.clone(), config: Arc::new(config) }
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

    async fn exchange(
        &self,
        request: &HttpRequest,
        url: &Url,
        deadline: Instant,
    ) -> Result<reqwest::Response, ProviderError> {
        let mut sent = reqwest::Request::new(request.method.clone(), url.clone());
        *sent.headers_mut() = request.headers.clone();
        *sent.body_mut() = Some(request.body.clone().into());
        match timeout_at(deadline, self.client.execute(sent)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(failure::describe(error, url, Stage::Send)),
            Err(_) => Err(failure::no_answer(url, self.config.first_byte_timeout)),
        }
    }
}

fn setup_failed(error: &reqwest::Error) -> ProviderError {
    let message = format!("cannot set up the HTTP client: {}", failure::causes(error));
    ProviderError::new(ProviderErrorKind::InvalidRequest, message)
}
