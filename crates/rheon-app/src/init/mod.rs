//! What a project begins with: settings, what is not shared of them, and instructions for agents. Nothing is ever overwritten.

mod project;

pub use project::{InitError, InitOutcome, init_project};
