//! Configuration becomes a running session. So far: how sessions are kept, and a session that needs no configuration, the demo.

mod demo;
pub mod keeping;

pub use demo::{DemoError, DemoOptions, DemoReport, NoteFile, demo};
