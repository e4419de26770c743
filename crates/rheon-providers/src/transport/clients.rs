//! `Clients`: the HTTP clients behind a transport.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::redirect::Policy;
use rheon_types::{ProviderError, ProviderErrorKind};
use url::{Host, Url};

use super::config::{ProxyChoice, TransportConfig};
use super::failure;

/// How often a silent HTTP/2 peer is pinged, and how long it may take to respond.
const PROBE_INTERVAL: Duration = Duration::from_secs(30);
const PROBE_TIMEOUT: Duration = Duration::from_secs(20);
/// After how many lost probes a TCP connection is considered dead.
const PROBES_MAX: u32 = 3;

/// The HTTP clients of a transport. Each is created on first use: reading the certificates of all authorities takes
/// longer than everything else before a request, and a local server without TLS needs none.
#[derive(Debug, Default)]
pub(super) struct Clients {
    remote: OnceLock<Result<RemoteClient, String>>,
    /// For local servers, which no proxy can reach.
    local: OnceLock<Result<reqwest::Client, String>>,
    /// The same, without certificates.
    local_plain: OnceLock<Result<reqwest::Client, String>>,
}

/// The client for remote servers.
#[derive(Debug)]
struct RemoteClient {
    client: reqwest::Client,
    /// Why no certificates are trusted, if there are none.
    trust_problem: Option<String>,
}

impl Clients {
    /// Clients with these settings. They are created on first use, except that extra certificates are checked
    /// immediately.
    pub(super) fn new(config: &TransportConfig) -> Result<Self, ProviderError> {
        if config.extra_roots.is_empty() {
            return Ok(Self::default());
        }
        let local_plain = build(config, ProxyChoice::Direct, Trust::ConfigOnly);
        let local_plain = local_plain.map_err(|problem| client_setup_error(&problem))?;
        Ok(Self { local_plain: OnceLock::from(Ok(local_plain)), ..Self::default() })
    }

    /// The client for remote servers.
    pub(super) fn remote(&self, config: &TransportConfig) -> Result<&reqwest::Client, ProviderError> {
        self.remote_client(config).map(|remote| &remote.client)
    }

    /// The client for `url`. A machine without certificates can still reach servers that need none.
    pub(super) fn at(&self, url: &Url, config: &TransportConfig) -> Result<&reqwest::Client, ProviderError> {
        let is_secure = url.scheme() == "https";
        let direct = |trust| build(config, ProxyChoice::Direct, trust);
        if is_local(url) && !is_secure {
            // Redirects stay within the origin, so no certificate is ever needed.
            let client = self.local_plain.get_or_init(|| direct(Trust::ConfigOnly));
            return client.as_ref().map_err(|problem| client_setup_error(problem));
        }
        let remote = self.remote_client(config)?;
        if let Some(problem) = remote.trust_problem.as_deref().filter(|_| is_secure) {
            return Err(unusable(&format!(
                "no trusted certificates: {problem}; install CA certificates, or set SSL_CERT_FILE"
            )));
        }
        match config.proxy {
            ProxyChoice::System if is_local(url) => {
                let client =
                    self.local.get_or_init(|| direct(Trust::System).or_else(|_| direct(Trust::ConfigOnly)));
                client.as_ref().map_err(|problem| client_setup_error(problem))
            }
            ProxyChoice::System | ProxyChoice::Direct => Ok(&remote.client),
        }
    }

    fn remote_client(&self, config: &TransportConfig) -> Result<&RemoteClient, ProviderError> {
        let remote = self.remote.get_or_init(|| match build(config, config.proxy, Trust::System) {
            Ok(client) => Ok(RemoteClient { client, trust_problem: None }),
            Err(problem) => match build(config, config.proxy, Trust::ConfigOnly) {
                Ok(client) => Ok(RemoteClient {
                    client,
                    trust_problem: Some(problem).filter(|_| config.extra_roots.is_empty()),
                }),
                // The problem is unrelated to the system's certificates.
                Err(_) => Err(problem),
            },
        });
        remote.as_ref().map_err(|problem| client_setup_error(problem))
    }
}

/// Whether `url` is on this machine.
pub(crate) fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

/// Which certificates are trusted.
#[derive(Clone, Copy)]
enum Trust {
    /// Those of the system and of the config.
    System,
    /// Those of the config only.
    ConfigOnly,
}

fn build(config: &TransportConfig, proxy: ProxyChoice, trust: Trust) -> Result<reqwest::Client, String> {
    install_tls();
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
    let mut extra = Vec::new();
    for pem in &config.extra_roots {
        extra.extend(reqwest::Certificate::from_pem_bundle(pem).map_err(problem)?);
    }
    builder = match trust {
        Trust::System => builder.tls_certs_merge(extra),
        Trust::ConfigOnly => builder.tls_certs_only(extra),
    };
    builder.build().map_err(problem)
}

/// Makes ring the TLS library of this process, unless it has one. An HTTP client cannot be built without.
pub fn install_tls() {
    // An error says that there is one already.
    let _installed = rustls::crypto::ring::default_provider().install_default();
}

fn client_setup_error(problem: &str) -> ProviderError {
    unusable(&format!("cannot set up the HTTP client: {problem}"))
}

fn unusable(message: &str) -> ProviderError {
    ProviderError::new(ProviderErrorKind::InvalidRequest, message)
}
