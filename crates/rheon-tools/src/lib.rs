//! The tools a model can call, and what they share.
//!
//! A tool does one thing and checks its arguments against [`Workspace`]. The gate (`rheon-policy`) decides whether a
//! call may run, and the sandbox (`rheon-sandbox`) limits what its processes can reach. The user's programs take part
//! through [`hooks`]; those of a project run only after the user trusts it.
#![allow(missing_docs)]

// The code that `#[derive(Tool)]` generates names `rheon`, the crate through which everyone else uses it.
extern crate self as rheon;

#[cfg(feature = "builtin")]
mod aliases;
mod arguments;
#[cfg(feature = "builtin")]
pub mod builtin;
#[cfg(feature = "builtin")]
pub mod commands;
mod derived;
#[cfg(feature = "builtin")]
pub mod files;
#[cfg(feature = "builtin")]
pub mod hooks;
pub mod loop_guard;
#[cfg(feature = "builtin")]
mod markdown;
#[cfg(feature = "builtin")]
pub mod notes;
#[cfg(feature = "builtin")]
pub mod repo_map;
#[cfg(feature = "builtin")]
pub mod skills;
#[cfg(feature = "builtin")]
mod toolkit;

pub use arguments::arguments_schema;
pub use derived::{DerivedTool, IntoToolOutput, ToolArguments};
#[cfg(feature = "builtin")]
pub use markdown::{FileHead, FileProblem, read_head};
#[cfg(feature = "builtin")]
pub use rheon_policy::{Access, DisplayPath, PathError, ResolvedPath, Workspace};
#[cfg(feature = "builtin")]
pub use toolkit::{CommandSettings, OwnPaths, Toolkit, ToolkitError, ToolkitSettings, file_tools};

/// Used by the code that `#[derive(Tool)]` generates. Not a public API.
#[doc(hidden)]
pub mod __private {
    pub use crate::arguments::{arguments_schema, read_arguments};
    pub use crate::derived::{DerivedTool, IntoToolOutput, ToolArguments};
    pub use rheon_types::{BoxFuture, Claim, Effect, Tool, ToolContext, ToolError, ToolResult};
    pub use serde_json::Value;
    pub use std::boxed::Box;
    pub use std::sync::Arc;
}
