//! `TransportConfig`: timeouts, limits, proxy and certificates.

use std::time::Duration;

/// Settings of the HTTP client, which all services share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransportConfig {
    /// Timeout for connecting, including name lookup and TLS.
    pub connect_timeout: Duration,
    /// Timeout for the response head, counted from sending the request. Local servers read the whole prompt before
    /// they respond, so their vendors set a longer one.
    pub first_byte_timeout: Duration,
    /// Timeout between two reads of a body. Models that think without streaming it are silent for minutes on services
    /// that send no pings. A dead peer is detected much earlier by keep-alive probes.
    pub idle_timeout: Duration,
    /// How long a response may continue without progress, even if bytes keep coming (pings, a slow drip).
    pub progress_timeout: Duration,
    /// How long an idle connection is kept.
    pub pool_idle_timeout: Duration,
    /// The maximum number of redirects, all within one origin.
    pub redirects_max: usize,
    /// The maximum size of a response, after decompression.
    pub response_bytes_max: u64,
    /// Additional trusted root certificates, as PEM.
    pub extra_roots: Vec<Vec<u8>>,
    /// Which proxy is used.
    pub proxy: ProxyChoice,
    /// The default `user-agent` header.
    pub user_agent: String,
}

/// Which proxy is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyChoice {
    /// The proxy from `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`.
    System,
    /// No proxy.
    Direct,
}

impl Default for TransportConfig {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            first_byte_timeout: Duration::from_secs(120),
            idle_timeout: Duration::from_secs(300),
            progress_timeout: Duration::from_secs(600),
            pool_idle_timeout: Duration::from_secs(90),
            redirects_max: 3,
            response_bytes_max: 256 * 1024 * 1024,
            extra_roots: Vec::new(),
            proxy: ProxyChoice::System,
            user_agent: concat!("rheon/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}
