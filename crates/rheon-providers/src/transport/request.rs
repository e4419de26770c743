//! `HttpRequest`: an HTTP request before and after authentication.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use rheon_types::{ProviderError, ProviderErrorKind};
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

#[derive(Clone)]
pub(crate) struct HttpRequest {
    /// Usually `POST`.
    pub(crate) method: Method,
    pub(crate) url: Url,
    /// Headers with secrets are marked sensitive.
    pub(crate) headers: HeaderMap,
    /// Cheap to share.
    pub(crate) body: Bytes,
}

impl HttpRequest {
    /// A `POST` with external headers, all of which are treated as secrets.
    pub(crate) fn post(
        url: &str,
        headers: &[(String, SecretString)],
        body: Bytes,
    ) -> Result<Self, ProviderError> {
        let unusable = |message: String| ProviderError::new(ProviderErrorKind::InvalidRequest, message);
        let url = Url::parse(url).map_err(|error| unusable(format!("{url:?} is not a URL: {error}")))?;
        let mut sent = HeaderMap::new();
        for (name, value) in headers {
            let known = HeaderName::try_from(name)
                .map_err(|_| unusable(format!("{name:?} is not a valid header name")))?;
            let mut value = HeaderValue::try_from(value.expose_secret())
                .map_err(|_| unusable(format!("invalid value for the header {name:?}")))?;
            value.set_sensitive(true);
            sent.insert(known, value);
        }
        Ok(Self { method: Method::POST, url, headers: sent, body })
    }
}

/// Omits headers, body and query: they may hold secrets.
impl std::fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut url = self.url.clone();
        url.set_query(None);
        write!(f, "{} {url} ({} bytes)", self.method, self.body.len())
    }
}
