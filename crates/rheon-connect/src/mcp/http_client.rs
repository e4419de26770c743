//! The HTTP client for servers at an address.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::redirect::Policy;
use url::{Host, Url};

use super::error::McpError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const REDIRECTS_MAX: usize = 5;

/// The address, if it is one of a server.
pub(crate) fn address(text: &str) -> Result<Url, McpError> {
    let wrong = |problem: String| McpError::Address { url: super::clean::short_line(text), problem };
    let url = Url::parse(text).map_err(|error| wrong(error.to_string()))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        scheme => Err(wrong(format!("the scheme {scheme:?} is not http or https"))),
    }
}

/// Makes TLS available to HTTP clients of this process, unless it has a library for it already.
pub(super) fn install_tls() {
    let _installed = rustls::crypto::ring::default_provider().install_default();
}

/// A client for one address. Servers of this machine are reached without a proxy.
pub(crate) fn http_client(url: &Url) -> Result<reqwest::Client, McpError> {
    install_tls();
    let builder = reqwest::Client::builder()
        .tls_backend_rustls()
        .redirect(same_origin())
        .referer(false)
        .user_agent(concat!("rheon/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true);
    let builder = if is_local(url) { builder.no_proxy() } else { builder };
    builder.build().map_err(|error| McpError::HttpClient(error.to_string()))
}

/// Whether the address is of this machine.
pub(super) fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Follows only redirects that keep the message and stay at the server: headers may contain keys.
fn same_origin() -> Policy {
    Policy::custom(|attempt| {
        let keeps_body =
            matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        let stays = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
        if keeps_body && stays && attempt.previous().len() <= REDIRECTS_MAX {
            attempt.follow()
        } else {
            attempt.stop()
        }
    })
}
