//! Transport: one HTTP client for all providers.

mod client;
mod config;
mod failure;
mod redirect;
mod request;
mod response;

pub use client::Transport;
pub use config::{ProxyChoice, TransportConfig};
pub(crate) use request::HttpRequest;
pub(crate) use response::HttpResponse;

#[cfg(test)]
mod tls_tests;
#[cfg(test)]
mod transport_tests;
