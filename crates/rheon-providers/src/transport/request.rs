//! `HttpRequest`: what goes over the network, before and after it is authorised.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use rheon_types::{ProviderError, ProviderErrorKind};
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

/// One HTTP request, whole.
#[derive(Clone)]
pub(crate) struct HttpRequest {
    /// Usually `POST`.
    pub(crate) method: Method,
    /// Where it goes.
    pub(crate) url: Url,
    /// Its headers; those that hold secrets are marked sensitive.
    pub(crate) headers: HeaderMap,
    /// Its body; sharing it costs nothing.
    pub(crate) body: Bytes,
}

impl HttpRequest {
    /// A `POST` whose headers, all of them secrets, come from outside.
    pub(crate) fn post(
        url: &str,
        headers: &[(String, SecretString)],
        body: Bytes,
    ) -> Result<Self, ProviderError> {
        let unusable = |message: String| ProviderError::new(ProviderErrorKind::InvalidRequest, message);
        let url = Url::parse(url).map_err(|error| unusable(format!("{url:?} is no address: {error}")))?;
        let mut sent = HeaderMap::new();
        for (name, value) in headers {
            let known = HeaderName::try_from(name).map_err(|_| unusable(format!("{name:?} is no header")))?;
            let mut value = HeaderValue::try_from(value.expose_secret())
                .map_err(|_| unusable(format!("the value of the header {name:?} cannot be sent")))?;
            value.set_sensitive(true);
            sent.insert(known, value);
        }
        Ok(Self { method: Method::POST, url, headers: sent, body })
    }
}

/// Without headers, body and query: they may hold secrets.
impl std::fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut url = self.url.clone();
        url.set_query(None);
        write!(f, "{} {url} ({} bytes)", self.method, self.body.len())
    }
}
