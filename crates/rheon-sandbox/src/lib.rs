//! Runs one command in a sandbox and leaves no process behind.
//!
//! [`process`] runs a line of bash with a fixed environment and bounded output, and ends every process it started.
//! [`Sandbox`] limits what such a process can reach, based on what this machine was tested to enforce. All `unsafe`
//! code of the workspace is in this crate. [`HostList`] says which hosts commands may reach.

#![allow(missing_docs)]

mod caches;
#[cfg_attr(not(target_os = "linux"), path = "names_none.rs")]
mod names;
mod network;
pub mod process;
mod sandbox;
mod temporary;

pub use caches::{
    CacheMode, CacheReports, CacheSettings, CacheUsage, Caches, CleanReport, clean_caches, list_caches,
};
pub use names::{NameOutcome, NameReport};
pub use network::{ContactOutcome, HostContact, HostList, HostRule, HostRuleError, is_public_address};
pub use sandbox::{
    AccessError, Boundary, Escape, EscapeVerdict, Level, NamespaceUse, NetworkAccess, ProbeCache, Programs,
    PublishedPort, Requirement, Sandbox, SandboxCall, SandboxError, SandboxReport, SandboxSwitch, Visibility,
};
pub use temporary::{TemporaryDirectory, remove_temporary_directories};
