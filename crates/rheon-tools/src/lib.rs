//! Everything the model can do to the machine.
//!
//! A tool does one thing and trusts its arguments no further than [`Workspace`] does; whether it may run at all is the
//! gate's decision (`rheon-policy`), and how far its processes reach the sandbox's (`rheon-sandbox`). Programs of the user take part
//! through [`hooks`], those of a project only after it is trusted.

pub mod builtin;
pub mod commands;
pub mod files;
pub mod hooks;
mod markdown;
pub mod memory;
pub mod notes;
pub mod repo_map;
pub mod skills;
mod toolkit;

pub use markdown::{Beginning, FileProblem, read_beginning};
pub use rheon_policy::{Access, PathError, ResolvedPath, Shown, Workspace};
pub use toolkit::{Toolkit, ToolkitError, ToolkitSettings, file_tools};
