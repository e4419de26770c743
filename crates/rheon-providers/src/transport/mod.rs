//! Transport: one HTTP client for all providers.

mod client;
mod clients;
mod config;
mod failure;
mod redirect;
mod request;
mod response;

pub use client::{PostResponse, Transport};
pub use clients::install_tls;
pub(crate) use clients::is_local;
pub use config::{ProxyChoice, TransportConfig};
pub(crate) use request::HttpRequest;
pub(crate) use response::HttpResponse;

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tls_tests;
#[cfg(test)]
mod transport_tests;
