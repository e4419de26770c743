//! `Clients`: the HTTP clients behind a transport, with the settings that never change.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::redirect::Policy;
use rheon_types::{ProviderError, ProviderErrorKind};
use url::{Host, Url};

use super::config::{ProxyChoice, TransportConfig};
use super::failure;

/// How often a silent HTTP/2 peer is asked whether it is still there, and how long it may take to say so.
const PROBE_INTERVAL: Duration = Duration::from_secs(30);
const PROBE_TIMEOUT: Duration = Duration::from_secs(20);
/// After how many lost probes a TCP connection counts as gone.
const PROBES_MAX: u32 = 3;

/// The HTTP clients of one transport.
#[derive(Debug)]
pub(super) struct Clients {
    usual: reqwest::Client,
    /// For servers on this machine, which no proxy can reach. Made when it is first needed.
    near: OnceLock<reqwest::Client>,
    /// Why no certificate is trusted, if none is.
    distrust: Option<String>,
}

impl Clients {
    /// Clients with these settings. A machine without certificates can still use servers that need none.
    pub(super) fn new(config: &TransportConfig) -> Result<Self, ProviderError> {
        let (usual, distrust) = match build(config, config.proxy, Trust::System) {
            Ok(usual) => (usual, None),
            Err(problem) => match build(config, config.proxy, Trust::GivenOnly) {
                Ok(usual) => (usual, Some(problem).filter(|_| config.extra_roots.is_empty())),
                // What is wrong has nothing to do with the system's certificates.
                Err(_) => return Err(unusable(&format!("cannot set up the HTTP client: {problem}"))),
            },
        };
        Ok(Self { usual, near: OnceLock::new(), distrust })
    }

    /// The client for everything that is not on this machine.
    pub(super) fn usual(&self) -> &reqwest::Client {
        &self.usual
    }

    /// The client for `url`.
    pub(super) fn at(&self, url: &Url, config: &TransportConfig) -> Result<&reqwest::Client, ProviderError> {
        if let Some(problem) = self.distrust.as_deref().filter(|_| url.scheme() == "https") {
            return Err(unusable(&format!(
                "no server can be trusted: {problem}; install the certificates of authorities, or name a file of them in \
                 SSL_CERT_FILE"
            )));
        }
        match config.proxy {
            ProxyChoice::System if is_near(url) => Ok(self.near.get_or_init(|| {
                let direct = |trust| build(config, ProxyChoice::Direct, trust);
                // What the usual client was made of is enough for this one as well.
                direct(Trust::System)
                    .or_else(|_| direct(Trust::GivenOnly))
                    .unwrap_or_else(|_| self.usual.clone())
            })),
            ProxyChoice::System | ProxyChoice::Direct => Ok(&self.usual),
        }
    }
}

/// Whether `url` is on this machine.
pub(crate) fn is_near(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

/// Whose certificates are trusted.
#[derive(Clone, Copy)]
enum Trust {
    /// Those of the system, and those of the settings.
    System,
    /// Those of the settings.
    GivenOnly,
}

fn build(config: &TransportConfig, proxy: ProxyChoice, trust: Trust) -> Result<reqwest::Client, String> {
    let problem = |error: reqwest::Error| failure::causes(&error);
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
    builder = match proxy {
        ProxyChoice::System => builder,
        ProxyChoice::Direct => builder.no_proxy(),
    };
    let mut given = Vec::new();
    for pem in &config.extra_roots {
        given.extend(reqwest::Certificate::from_pem_bundle(pem).map_err(problem)?);
    }
    builder = match trust {
        Trust::System => builder.tls_certs_merge(given),
        Trust::GivenOnly => builder.tls_certs_only(given),
    };
    builder.build().map_err(problem)
}

fn unusable(message: &str) -> ProviderError {
    ProviderError::new(ProviderErrorKind::InvalidRequest, message)
}
