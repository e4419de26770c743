//! The sandbox: what tool processes can reach, and what the machine can enforce.

mod boundary;
mod bubblewrap;
mod call;
mod choose;
mod isolation;
mod level;
mod machine;
mod probe;
mod probe_cache;
mod programs;
mod report;
mod repository;
mod servers;
mod session_access;
mod sockets;
mod view;
mod wrap;

pub use boundary::{Boundary, NetworkAccess, Visibility};
pub use call::SandboxCall;
pub use choose::{Sandbox, SandboxError};
pub use level::{Level, Requirement};
pub use probe_cache::ProbeCache;
pub use programs::{NamespaceUse, Programs};
pub use report::{Escape, EscapeVerdict, SandboxReport};
pub use servers::PublishedPort;
pub use session_access::{AccessError, SandboxSwitch};

#[cfg(test)]
mod place_tests;
