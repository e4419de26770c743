//! Runs a line of bash with a fixed environment and bounded output, and leaves no process behind.

mod capture;
#[cfg(target_os = "linux")]
mod entry;
mod environment;
mod exchange;
mod execution;
#[cfg(target_os = "linux")]
mod first;
#[cfg_attr(not(target_os = "linux"), path = "helper_none.rs")]
mod helper;
mod launch;
#[cfg(target_os = "linux")]
mod mounts;
mod pipe;
#[cfg(target_os = "linux")]
mod plan;
mod restrict;
mod run;
#[cfg(target_os = "linux")]
mod serve;
#[cfg_attr(not(target_os = "linux"), path = "spawn_portable.rs")]
mod spawn;
#[cfg_attr(not(target_os = "linux"), path = "supervisor_none.rs")]
mod supervisor;
mod tree;
#[cfg(target_os = "linux")]
mod wire;

pub use capture::{Capture, Output, OutputLimits, Spill, SpillFile};
#[cfg(target_os = "linux")]
pub use entry::CONNECT_ARGUMENT;
pub use environment::{EnvironmentSettings, ProcessEnvironment};
pub use exchange::{Exchange, exchange};
pub use execution::{Capabilities, Namespaces, PathView, ProcessSetup, ResourceLimits, View};
pub use helper::{HelperNetwork, Overlay, SessionHelper};
pub use launch::{
    Containment, HelperRoute, Launcher, MARKER, Process, ProcessError, ProcessGuard, ShellLine, next_marker,
    start,
};
pub use restrict::{Files, Restrictions, Sockets};
pub use run::{EndReason, ProcessOutcome, StopCondition, finish, run};
pub use tree::{ProcessTree, kill_marked};

/// Nothing recognizes it on this system.
#[cfg(not(target_os = "linux"))]
pub const CONNECT_ARGUMENT: &str = "--rheon-sandbox-connect";

#[cfg(test)]
pub(crate) mod stubborn;
