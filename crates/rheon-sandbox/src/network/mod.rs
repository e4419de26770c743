//! The network of commands: which hosts they may reach, and the proxy that enforces it.

mod address;
mod hosts;
mod proxy;
mod relay;
mod request;

pub use address::is_public_address;
pub use hosts::{HostList, HostRule, HostRuleError};
pub use proxy::{ContactOutcome, HostContact};
pub(crate) use proxy::{HostProxy, ProxyLease};
pub(crate) use relay::relay;
