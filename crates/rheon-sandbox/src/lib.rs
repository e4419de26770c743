//! One command runs in bounds and leaves nothing behind.
//!
//! [`process`] runs a line of bash: a fixed environment, bounded output, and an end that leaves no process. [`Sandbox`] says how far
//! such a process reaches, and has tried what the machine can enforce of that. All `unsafe` code of the workspace is in this crate.

pub mod process;
mod sandbox;
mod temporary;

pub use sandbox::{
    Boundary, Escape, EscapeVerdict, Level, NamespaceUse, NetworkAccess, ProbeCache, Programs, Requirement,
    Sandbox, SandboxError, SandboxReport, Visibility,
};
pub use temporary::{TemporaryDirectory, remove_temporary_directories};
