//! Everything the model can do to the machine: built-in tools, and the rules they obey.
//!
//! A tool does one thing and trusts its arguments no further than [`Workspace`] does; whether it may run at all is the
//! gate's decision ([`policy`]). Programs of the user take part through [`hooks`], those of a project only after [`trust`].

mod ascii;
pub mod builtin;
pub mod commands;
pub mod files;
pub mod hooks;
mod markdown;
pub mod memory;
pub mod notes;
pub mod policy;
pub mod process;
pub mod repo_map;
pub mod sandbox;
pub mod shell;
pub mod skills;
mod temporary;
mod toolkit;
pub mod trust;
mod workspace;

pub use markdown::{Beginning, FileProblem, read_beginning};
pub use temporary::remove_temporary_folders;
pub use toolkit::{Toolkit, ToolkitError, ToolkitSettings, file_tools};
pub use workspace::{Access, PathError, ResolvedPath, Shown, Workspace};

#[cfg(test)]
mod workspace_tests;
