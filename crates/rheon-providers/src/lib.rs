//! Model providers: turn a request into a stream of chunks.
//!
//! A provider combines three things: a *wire* (the format of requests and responses), an *auth* scheme and a *vendor*
//! (data: a base URL, environment variables and flags). [`Registry`] puts them together.

mod auth;
mod cache;
mod call_id;
mod catalog;
mod compat;
pub mod docs;
mod env;
mod error;
mod fallback;
pub mod frame;
mod history;
mod probe;
mod prompted;
mod registry;
pub mod scripted;
mod service;
mod tokens;
mod toml_text;
mod tool_name;
mod transport;
mod vendor;
pub mod wire;

pub use auth::AwsKeys;
pub use call_id::CallIdRule;
pub use catalog::{Catalog, Model, ThinkingStyle};
pub use compat::{
    CacheStyle, Compat, StructuredOutput, SystemRole, ThinkingReplay, ThinkingRequest, TokensField, ToolStyle,
};
pub use env::ProviderEnv;
pub use fallback::FallbackProvider;
pub use probe::ProbeResult;
pub use prompted::{LenientTools, PromptedTools};
pub use registry::{Credential, ProbeError, Registry, RegistryError, RegistryParts, ResolvedModel};
pub use toml_text::TomlError;
pub use transport::{PostResponse, ProxyChoice, Transport, TransportConfig, install_tls};
pub use vendor::{
    AuthScheme, AuthSpec, LocalServer, ProbeMethod, UrlVariable, Vendor, VendorError, VendorPaths, Vendors,
};

#[cfg(test)]
mod history_tests;
#[cfg(test)]
mod registry_tests;
#[cfg(test)]
mod test_server;
#[cfg(test)]
mod tokens_tests;
