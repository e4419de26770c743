//! `TransportConfig`: how long to wait, how much to take, whom to trust.

use std::time::Duration;

/// How the HTTP client behaves. All services share one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransportConfig {
    /// How long a connection may take, name lookup and TLS included.
    pub connect_timeout: Duration,
    /// How long the head of an answer may take, from the moment the request is sent. Local servers read the
    /// whole prompt before they say anything, so their vendors set more.
    pub first_byte_timeout: Duration,
    /// How long a body may be silent between two reads. Models that think without showing it are silent for
    /// minutes on services that send no pings. A peer that is gone is noticed much earlier, by keep-alive
    /// probes.
    pub idle_timeout: Duration,
    /// How long an answer may go on without saying anything new, although its bytes keep coming (pings, a slow drip).
    pub progress_timeout: Duration,
    /// How long an unused connection is kept for the next call.
    pub pool_idle_timeout: Duration,
    /// How many redirects are followed, all within one origin.
    pub redirects_max: usize,
    /// The most bytes one answer may have, after decompression.
    pub response_bytes_max: u64,
    /// Certificates of authorities that are trusted besides the system's, as PEM.
    pub extra_roots: Vec<Vec<u8>>,
    /// Which proxy is used.
    pub proxy: ProxyChoice,
    /// How the client calls itself where a request does not say otherwise.
    pub user_agent: String,
}

/// Which proxy is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyChoice {
    /// The one that `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` name.
    System,
    /// None.
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
