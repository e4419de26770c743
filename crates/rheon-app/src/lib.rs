//! Configuration becomes a running session. So far there is one that needs none: the demo.

mod demo;

pub use demo::{DemoError, DemoOptions, DemoReport, NoteFile, demo};
