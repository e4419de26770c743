//! Everything the model can do to the machine.
//!
//! A tool does one thing and trusts its arguments no further than [`Workspace`] does; whether it may run at all is the
//! gate's decision (`rheon-policy`), and how far its processes reach the sandbox's (`rheon-sandbox`). Programs of the user take part
//! through [`hooks`], those of a project only after it is trusted.

// The code of `#[derive(Tool)]` refers to `rheon`, through which everybody else has it.
extern crate self as rheon;

mod arguments;
pub mod builtin;
pub mod commands;
mod derived;
pub mod files;
pub mod hooks;
mod markdown;
pub mod memory;
pub mod notes;
pub mod repo_map;
pub mod skills;
mod toolkit;

pub use arguments::arguments_schema;
pub use derived::{DerivedTool, IntoToolOutput, ToolArguments};
pub use markdown::{Beginning, FileProblem, read_beginning};
pub use rheon_policy::{Access, PathError, ResolvedPath, Shown, Workspace};
pub use toolkit::{Toolkit, ToolkitError, ToolkitSettings, file_tools};

/// What the code of `#[derive(Tool)]` refers to. Not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use crate::arguments::{arguments_schema, read_arguments};
    pub use crate::derived::{DerivedTool, IntoToolOutput, ToolArguments};
    pub use rheon_types::{BoxFuture, Claim, Effect, Tool, ToolContext, ToolError, ToolResult};
    pub use serde_json::Value;
    pub use std::boxed::Box;
    pub use std::sync::Arc;
}
