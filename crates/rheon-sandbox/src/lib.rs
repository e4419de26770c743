//! One command runs in bounds and leaves nothing behind.
//!
//! [`process`] runs a line of bash: a fixed environment, bounded output, and an end that leaves no process. [`Sandbox`] says how far
//! such a process reaches, and has tried what the machine can enforce of that. All `unsafe` code of the workspace is in this crate.

pub mod process;
mod sandbox;
mod temporary;

pub use sandbox::{
    Boundary, Escape, Level, Network, OwnNamespaces, Programs, Remembered, Report, Requirement, Sandbox,
    SandboxError, Sight, Verdict,
};
pub use temporary::{TemporaryFolder, remove_temporary_folders};
