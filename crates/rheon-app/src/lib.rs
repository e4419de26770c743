//! Configuration becomes a running session: files, variables and flags become settings, settings become a session with its model,
//! tools, rules and log, and the session is reached as a client.

pub mod config;
pub mod context;
mod demo;
pub mod doctor;
pub mod keeping;
mod machine;
pub mod memory;
pub mod models;
pub mod observe;
pub mod pipe;
pub mod policy;
pub mod session;
pub mod starter;
pub mod stream_json;
pub mod worktree;

pub use demo::{DemoError, DemoOptions, DemoReport, Leaves, demo};
