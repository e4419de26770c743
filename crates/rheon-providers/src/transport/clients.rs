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

/// The HTTP clients of one transport. Each is made when it is first needed: to read the certificates of all authorities takes
/// longer than everything else that happens before a request, and a server on this machine that speaks plain HTTP needs none.
#[derive(Debug, Default)]
pub(super) struct Clients {
    usual: OnceLock<Result<Usual, String>>,
    /// For servers on this machine, which no proxy can reach.
    near: OnceLock<Result<reqwest::Client, String>>,
    /// The same, without certificates.
    near_plain: OnceLock<Result<reqwest::Client, String>>,
}

/// The client for everything that is not on this machine.
#[derive(Debug)]
struct Usual {
    client: reqwest::Client,
    /// Why no certificate is trusted, if none is.
    distrust: Option<String>,
}

impl Clients {
    /// Clients with these settings. None is made yet, unless certificates are given: those that cannot be read are found at once.
    pub(super) fn new(config: &TransportConfig) -> Result<Self, ProviderError> {
        if config.extra_roots.is_empty() {
            return Ok(Self::default());
        }
        let near_plain = build(config, ProxyChoice::Direct, Trust::GivenOnly);
        let near_plain = near_plain.map_err(|problem| not_set_up(&problem))?;
        Ok(Self { near_plain: OnceLock::from(Ok(near_plain)), ..Self::default() })
    }

    /// The client for everything that is not on this machine.
    pub(super) fn usual(&self, config: &TransportConfig) -> Result<&reqwest::Client, ProviderError> {
        self.made(config).map(|usual| &usual.client)
    }

    /// The client for `url`. A machine without certificates can still use servers that need none.
    pub(super) fn at(&self, url: &Url, config: &TransportConfig) -> Result<&reqwest::Client, ProviderError> {
        let is_secure = url.scheme() == "https";
        let direct = |trust| build(config, ProxyChoice::Direct, trust);
        if is_near(url) && !is_secure {
            // Redirects stay within the origin, so that no certificate is ever asked for.
            let client = self.near_plain.get_or_init(|| direct(Trust::GivenOnly));
            return client.as_ref().map_err(|problem| not_set_up(problem));
        }
        let usual = self.made(config)?;
        if let Some(problem) = usual.distrust.as_deref().filter(|_| is_secure) {
            return Err(unusable(&format!(
                "no server can be trusted: {problem}; install the certificates of authorities, or name a file of them in \
                 SSL_CERT_FILE"
            )));
        }
        match config.proxy {
            ProxyChoice::System if is_near(url) => {
                let client =
                    self.near.get_or_init(|| direct(Trust::System).or_else(|_| direct(Trust::GivenOnly)));
                client.as_ref().map_err(|problem| not_set_up(problem))
            }
            ProxyChoice::System | ProxyChoice::Direct => Ok(&usual.client),
        }
    }

    fn made(&self, config: &TransportConfig) -> Result<&Usual, ProviderError> {
        let usual = self.usual.get_or_init(|| match build(config, config.proxy, Trust::System) {
            Ok(client) => Ok(Usual { client, distrust: None }),
            Err(problem) => match build(config, config.proxy, Trust::GivenOnly) {
                Ok(client) => {
                    Ok(Usual { client, distrust: Some(problem).filter(|_| config.extra_roots.is_empty()) })
                }
                // What is wrong has nothing to do with the system's certificates.
                Err(_) => Err(problem),
            },
        });
        usual.as_ref().map_err(|problem| not_set_up(problem))
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

fn not_set_up(problem: &str) -> ProviderError {
    unusable(&format!("cannot set up the HTTP client: {problem}"))
}

fn unusable(message: &str) -> ProviderError {
    ProviderError::new(ProviderErrorKind::InvalidRequest, message)
}
