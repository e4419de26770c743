//! Where there is no such mode yet: lines are edited by the terminal itself.

use std::io;

/// Never there.
#[derive(Debug)]
pub(crate) struct RawMode(());

impl RawMode {
    /// Does not begin.
    pub(crate) fn begin() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Nothing is to be set.
pub(crate) fn again() {}

/// Nothing was changed.
pub(crate) fn restore() {}
