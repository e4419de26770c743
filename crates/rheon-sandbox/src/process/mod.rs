//! Runs a line of bash with a fixed environment and bounded output, and leaves no process behind.

mod capture;
mod environment;
mod execution;
mod launch;
#[cfg(target_os = "linux")]
mod mounts;
mod pipe;
#[cfg(target_os = "linux")]
mod plan;
mod run;
#[cfg_attr(not(target_os = "linux"), path = "spawn_portable.rs")]
mod spawn;
#[cfg_attr(not(target_os = "linux"), path = "supervisor_none.rs")]
mod supervisor;
mod tree;

pub use capture::{Capture, Output, OutputLimits, Spill, SpillFile};
pub use environment::{EnvironmentSettings, ProcessEnvironment};
pub use execution::{Capabilities, Namespaces, PathView, ProcessSetup, View};
pub use launch::{
    Containment, Launcher, MARKER, Process, ProcessError, ProcessGuard, ShellLine, next_marker, start,
};
pub use run::{EndReason, ProcessOutcome, StopCondition, finish, run};
pub use tree::ProcessTree;

#[cfg(test)]
pub(crate) mod stubborn;
