//! `RawMode`: the terminal delivers single keys and bracketed pastes while this exists. Ctrl-C and Ctrl-Z stay signals.

#[cfg(not(unix))]
mod elsewhere;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use elsewhere::{RawMode, again, restore};
#[cfg(unix)]
pub(crate) use unix::{RawMode, again, restore};
