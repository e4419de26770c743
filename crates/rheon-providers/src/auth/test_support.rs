//! Shared test helpers: requests, inputs and a manual clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};
use rheon_types::{Clock, Timestamp};
use secrecy::{ExposeSecret, SecretString};

use super::{AuthInputs, Authorizer};
use crate::env::ProviderEnv;
use crate::transport::{HttpRequest, ProxyChoice, Transport, TransportConfig};

pub(super) struct ManualClock(AtomicU64);

impl ManualClock {
    pub(super) fn at_millis(millis: u64) -> Arc<Self> {
        Arc::new(Self(AtomicU64::new(millis)))
    }

    pub(super) fn set_millis(&self, millis: u64) {
        self.0.store(millis, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::Relaxed))
    }
}

/// A transport without a proxy.
pub(super) fn transport() -> Transport {
    Transport::new(TransportConfig { proxy: ProxyChoice::Direct, ..TransportConfig::default() }).unwrap()
}

pub(super) fn environment(variables: &[(&str, &str)]) -> ProviderEnv {
    variables.iter().copied().collect()
}

pub(super) fn inputs<'a>(vendor: &'a str, environment: &'a ProviderEnv) -> AuthInputs<'a> {
    AuthInputs {
        vendor,
        environment,
        key: None,
        aws_keys: None,
        clock: ManualClock::at_millis(1_700_000_000_000),
        transport: transport(),
    }
}

pub(super) fn request(url: &str) -> HttpRequest {
    HttpRequest {
        method: Method::POST,
        url: url.parse().unwrap(),
        headers: HeaderMap::new(),
        body: Bytes::from_static(b"{}"),
    }
}

/// The URL and the headers of an authorized request, with sensitive ones marked, or the error.
pub(super) async fn shown(authorizer: &dyn Authorizer, mut request: HttpRequest) -> String {
    if let Err(error) = authorizer.authorize(&mut request).await {
        return format!("{:?}: {error}", error.kind);
    }
    let mut lines = vec![request.url.to_string()];
    for (name, value) in &request.headers {
        let mark = if value.is_sensitive() { " (sensitive)" } else { "" };
        lines.push(format!("{name}: {}{mark}", value.to_str().unwrap()));
    }
    lines.join("\n")
}

pub(super) fn exposed(secrets: Vec<SecretString>) -> Vec<String> {
    secrets.iter().map(|secret| secret.expose_secret().to_owned()).collect()
}
