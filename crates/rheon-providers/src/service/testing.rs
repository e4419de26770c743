//! Test helpers: a provider with a server on loopback.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use http::{HeaderMap, HeaderValue};
use rheon_types::{
    AgentMessage, BoxFuture, Chunk, Clock, History, Provider, ProviderError, Request, Timestamp,
};
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;

use super::{Endpoint, HttpProvider};
use crate::auth::Authorizer;
use crate::catalog::Model;
use crate::compat::Compat;
use crate::test_server::{Server, transport};
use crate::transport::HttpRequest;
use crate::wire::WireKind;

/// Keys that are sent in a header and the query, one after the other.
pub(super) struct Keys {
    remaining: Mutex<VecDeque<&'static str>>,
    pub(super) forgotten: AtomicUsize,
}

impl Keys {
    pub(super) fn new<const N: usize>(keys: [&'static str; N]) -> Arc<Self> {
        Arc::new(Self { remaining: Mutex::new(VecDeque::from(keys)), forgotten: AtomicUsize::new(0) })
    }
}

impl Authorizer for Keys {
    fn authorize<'a>(&'a self, request: &'a mut HttpRequest) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let key = self.remaining.lock().unwrap().front().copied().unwrap_or_default();
            request.headers.insert("x-api-key", HeaderValue::from_str(key).unwrap());
            request.url.query_pairs_mut().append_pair("key", key);
            Ok(())
        })
    }

    fn forget(&self) -> bool {
        self.forgotten.fetch_add(1, Ordering::SeqCst);
        let mut remaining = self.remaining.lock().unwrap();
        if remaining.len() > 1 {
            remaining.pop_front();
        }
        !remaining.is_empty()
    }

    fn secrets(&self) -> Vec<SecretString> {
        self.remaining.lock().unwrap().iter().map(|key| SecretString::from(*key)).collect()
    }
}

pub(super) struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000)
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

pub(super) fn endpoint(wire: WireKind, server: &Server) -> Endpoint {
    Endpoint {
        id: "vendor".into(),
        wire,
        compat: Compat::default(),
        url: format!("{}/v1/{{model}}/ask", server.url),
        headers: HeaderMap::from_iter([("x-extra".parse().unwrap(), HeaderValue::from_static("yes"))]),
        count_url: None,
        first_byte_timeout: None,
    }
}

pub(super) fn provider_at(endpoint: Endpoint, keys: Arc<Keys>) -> HttpProvider {
    let models = Arc::new(|model: &str| Arc::new(Model::unknown(model)));
    HttpProvider::new(endpoint, keys, transport(), models, Arc::new(FixedClock))
}

/// A provider with one key.
pub(super) fn provider(wire: WireKind, server: &Server) -> HttpProvider {
    provider_at(endpoint(wire, server), Keys::new(["topsecret"]))
}

pub(super) fn request() -> Request {
    let message = AgentMessage::user("x".repeat(3_500), Timestamp::from_millis(0));
    let messages: History = [Arc::new(message)].into_iter().collect();
    Request { messages, ..Request::new("some/model") }
}

/// The whole response.
pub(super) async fn ask(provider: &HttpProvider) -> Vec<Result<Chunk, ProviderError>> {
    provider.stream(request(), CancellationToken::new()).collect().await
}

/// The error at the end of the response.
pub(super) async fn error_of(provider: &HttpProvider) -> ProviderError {
    ask(provider).await.pop().unwrap().unwrap_err()
}

/// The text of a response, followed by its end or its error.
pub(super) fn summary(items: &[Result<Chunk, ProviderError>]) -> String {
    let mut summary = String::new();
    for item in items {
        match item {
            Ok(Chunk::Text { delta }) => summary.push_str(delta),
            Ok(Chunk::Done { .. }) => summary.push('.'),
            Ok(_) => {}
            Err(error) => summary.push_str(&format!("<{:?}>", error.kind)),
        }
    }
    summary
}
