//! The ends of a pipe, for tokio.

use std::io::{self, PipeReader, PipeWriter};

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

#[cfg(unix)]
pub(super) type Sender = tokio::net::unix::pipe::Sender;

#[cfg(not(unix))]
pub(super) type Sender = tokio::fs::File;

/// Makes the writing end of a pipe non-blocking.
#[cfg(unix)]
pub(super) fn sender(writer: PipeWriter) -> io::Result<Sender> {
    Sender::from_owned_fd(writer.into())
}

/// Makes the writing end of a pipe non-blocking.
#[cfg(not(unix))]
pub(super) fn sender(writer: PipeWriter) -> io::Result<Sender> {
    Ok(Sender::from_std(std::os::windows::io::OwnedHandle::from(writer).into()))
}
