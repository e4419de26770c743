//! `HttpRequest`: what goes over the network, before and after it is authorised.

use bytes::Bytes;
use http::{HeaderMap, Method};
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

/// Without headers, body and query: they may hold secrets.
impl std::fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut url = self.url.clone();
        url.set_query(None);
        write!(f, "{} {url} ({} bytes)", self.method, self.body.len())
    }
}
