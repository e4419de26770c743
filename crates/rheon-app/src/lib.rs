//! Configuration becomes a running session. So far: what a model is told, how sessions are kept, and a session that needs no
//! configuration, the demo.

pub mod context;
mod demo;
pub mod keeping;
pub mod memory;

pub use demo::{DemoError, DemoOptions, DemoReport, NoteFile, demo};
