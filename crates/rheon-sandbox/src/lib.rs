//! Runs one command in a sandbox and leaves no process behind.
//!
//! [`process`] runs a line of bash with a fixed environment and bounded output, and ends every process it started.
//! [`Sandbox`] limits what such a process can reach, based on what this machine was tested to enforce. All `unsafe`
//! code of the workspace is in this crate.

#![allow(missing_docs)]

pub mod process;
mod sandbox;
mod temporary;

pub use sandbox::{
    Boundary, Escape, EscapeVerdict, Level, NamespaceUse, NetworkAccess, ProbeCache, Programs, Requirement,
    Sandbox, SandboxError, SandboxReport, Visibility,
};
pub use temporary::{TemporaryDirectory, remove_temporary_directories};
