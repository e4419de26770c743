//! Runs a line of bash with a fixed environment and bounded output, and leaves no process behind.

mod capture;
#[cfg(target_os = "linux")]
mod entry;
mod environment;
mod execution;
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
pub use environment::{EnvironmentSettings, ProcessEnvironment};
pub use execution::{Capabilities, Namespaces, PathView, ProcessSetup, View};
pub use helper::{HelperNetwork, Overlay, SessionHelper};
pub use launch::{
    Containment, HelperRoute, Launcher, MARKER, Process, ProcessError, ProcessGuard, ShellLine, next_marker,
    start,
};
pub use restrict::{Files, Restrictions, Sockets};
pub use run::{EndReason, ProcessOutcome, StopCondition, finish, run};
pub use tree::ProcessTree;

#[cfg(test)]
pub(crate) mod stubborn;
