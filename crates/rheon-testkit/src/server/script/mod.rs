//! Scripts: replies, their conditions, and script files.

mod file;
#[cfg(test)]
mod file_tests;
mod replies;
mod script_state;

pub use file::ScriptError;
pub use replies::Script;
pub(crate) use script_state::ScriptState;
