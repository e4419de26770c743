//! What a project begins with: settings, what is not shared of them, and instructions for agents. Nothing is ever overwritten.

mod begin;

pub use begin::{Begun, StarterError, begin_project};
