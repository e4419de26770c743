//! `RawMode`: the terminal gives every key as it is pressed and pasted text in brackets, until this ends. Ctrl-C and Ctrl-Z stay signals.

#[cfg(not(unix))]
mod elsewhere;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use elsewhere::{RawMode, again, restore};
#[cfg(unix)]
pub(crate) use unix::{RawMode, again, restore};
