//! The files of `rheon init`: settings, `.gitignore` and instructions for agents. Never overwrites a file.

mod project;

pub use project::{InitError, InitOutcome, init_project};
