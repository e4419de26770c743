//! `HttpResponse`: a response whose body is still arriving.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode, Version, header};
use rheon_types::{ProviderError, ProviderErrorKind};
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;

use super::config::TransportConfig;
use super::failure::{self, Stage};

/// How long to wait for the body of an error.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// A response. Dropping it ends the call: HTTP/1 closes the connection, HTTP/2 the stream.
pub(crate) struct HttpResponse {
    inner: reqwest::Response,
    url: Url,
    config: Arc<TransportConfig>,
    bytes: u64,
}

/// The start of a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BodyStart {
    /// At most the requested number of bytes.
    pub(crate) bytes: Bytes,
    /// Whether there was more.
    pub(crate) is_truncated: bool,
}

impl HttpResponse {
    pub(super) fn new(inner: reqwest::Response, url: Url, config: Arc<TransportConfig>) -> Self {
        Self { inner, url, config, bytes: 0 }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.inner.status()
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        self.inner.headers()
    }

    /// The content type, without parameters, in lower case.
    pub(crate) fn content_type(&self) -> Option<String> {
        let value = self.headers().get(header::CONTENT_TYPE)?.to_str().ok()?;
        let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        (!essence.is_empty()).then_some(essence)
    }

    /// Whether the rest of the body must be read before the connection can be reused.
    pub(crate) fn holds_connection(&self) -> bool {
        self.inner.version() < Version::HTTP_2
    }

    /// The next bytes of the body, decompressed; `None` at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, ProviderError> {
        let read = timeout(self.config.idle_timeout, self.inner.chunk()).await;
        let bytes = match read {
            Ok(Ok(Some(bytes))) => bytes,
            Ok(Ok(None)) => return Ok(None),
            Ok(Err(error)) => return Err(failure::describe(error, &self.url, Stage::Body)),
            Err(_) => return Err(failure::silent(&self.url, self.config.idle_timeout)),
        };
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        if self.bytes > self.config.response_bytes_max {
            return Err(ProviderError::new(
                ProviderErrorKind::Api,
                format!("the response is larger than {} bytes", self.config.response_bytes_max),
            ));
        }
        Ok(Some(bytes))
    }

    /// The body up to `bytes_max`; the rest is not read. `start` was read already.
    pub(crate) async fn read_to_end(
        &mut self,
        start: Bytes,
        bytes_max: usize,
    ) -> Result<BodyStart, ProviderError> {
        let mut body = BytesMut::from(start);
        while body.len() <= bytes_max {
            match self.chunk().await? {
                Some(bytes) => body.extend_from_slice(&bytes),
                None => break,
            }
        }
        let is_truncated = body.len() > bytes_max;
        body.truncate(bytes_max);
        Ok(BodyStart { bytes: body.freeze(), is_truncated })
    }

    /// The part of the body that arrives within a short time, up to `bytes_max`: an error is worth reporting even
    /// without its text.
    pub(crate) async fn read_available(&mut self, bytes_max: usize) -> Bytes {
        let deadline = Instant::now() + ERROR_BODY_TIMEOUT;
        let mut body = BytesMut::new();
        while body.len() < bytes_max {
            match timeout_at(deadline, self.chunk()).await {
                Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
                Ok(Ok(None) | Err(_)) | Err(_) => break,
            }
        }
        body.truncate(bytes_max);
        body.freeze()
    }
}
