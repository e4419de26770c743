//! Scripts: replies, the conditions of their use, and the files they come from.

mod cast;
mod file;
#[cfg(test)]
mod file_tests;
mod replies;

pub(crate) use cast::Cast;
pub use file::ScriptError;
pub use replies::Script;
