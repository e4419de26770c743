//! The reading end of a pipe, for tokio.

use std::io::{self, PipeReader};

#[cfg(unix)]
pub(super) type Receiver = tokio::net::unix::pipe::Receiver;

#[cfg(not(unix))]
pub(super) type Receiver = tokio::fs::File;

/// Makes the reading end of a pipe non-blocking.
#[cfg(unix)]
pub(super) fn receiver(reader: PipeReader) -> io::Result<Receiver> {
    Receiver::from_owned_fd(reader.into())
}

/// Makes the reading end of a pipe non-blocking.
#[cfg(not(unix))]
pub(super) fn receiver(reader: PipeReader) -> io::Result<Receiver> {
    Ok(Receiver::from_std(std::os::windows::io::OwnedHandle::from(reader).into()))
}
