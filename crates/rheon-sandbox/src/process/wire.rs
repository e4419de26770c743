//! The messages between the agent and the helper of a session: length-prefixed bytes over a socket pair, with open files
//! beside them. Both ends are the same program, so the format has no versions.

use std::ffi::{OsStr, OsString};
use std::io::{self, IoSlice, IoSliceMut, PipeReader, PipeWriter};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use super::execution::{ExchangePipes, Execution, PathView, ResourceLimits, View};
use super::restrict::{Files, Restrictions, Sockets};

/// A copy-on-write layer that the helper mounts once for the whole session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    /// The directory that commands see, and that stays as it is.
    pub lower: PathBuf,
    /// Where changes go.
    pub upper: PathBuf,
    /// Scratch space of the kernel, on the same file system as `upper`.
    pub work: PathBuf,
}

/// What the helper sets up when it starts. One file comes with it: the socket for commands without a network.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct HelperSetup {
    pub(super) overlays: Vec<Overlay>,
    /// Removed when the agent is gone, unless another process of the agent still holds its lock.
    pub(super) temporary: Option<PathBuf>,
}

/// The kind of addresses that a socket connects to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IpVersion {
    V4,
    V6,
}

/// From the agent to the helper.
pub(super) enum Request {
    Setup {
        setup: HelperSetup,
        inner: OwnedFd,
    },
    Start {
        id: u64,
        execution: Box<Execution>,
    },
    Kill {
        id: u64,
    },
    /// Asks for a TCP socket in the network of the helper.
    Socket {
        id: u64,
        version: IpVersion,
    },
}

/// From the helper to the agent.
pub(super) enum Reply {
    /// The helper can start commands. Lists the overlays that could not be mounted. The half without a network sends its
    /// listener.
    Ready {
        failed: Vec<(PathBuf, i32)>,
        listener: Option<OwnedFd>,
    },
    /// The helper could not set itself up.
    Broken {
        errno: i32,
        what: String,
    },
    Started {
        id: u64,
    },
    Failed {
        id: u64,
        errno: i32,
    },
    /// The raw status of `wait`.
    Ended {
        id: u64,
        status: i32,
    },
    Socket {
        id: u64,
        socket: OwnedFd,
    },
}

/// More than the longest command with its environment and view.
const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

const FILES_MAX: usize = 4;

/// Sends a message with its files.
pub(super) fn send(socket: BorrowedFd<'_>, body: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let length = u32::try_from(body.len()).map_err(io::Error::other)?.to_le_bytes();
    let whole = [&length[..], body].concat();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() && !control.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::Error::other("too many files for a message"));
    }
    let mut rest = whole.as_slice();
    while !rest.is_empty() {
        match sendmsg(socket, &[IoSlice::new(rest)], &mut control, SendFlags::NOSIGNAL) {
            Ok(sent) => {
                rest = rest.get(sent..).unwrap_or_default();
                control.clear();
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// A received message.
pub(super) struct Message {
    pub(super) body: Vec<u8>,
    pub(super) files: Vec<OwnedFd>,
}

/// Receives a message. `None` if the other end is gone.
pub(super) fn receive(socket: BorrowedFd<'_>) -> io::Result<Option<Message>> {
    let mut files = Vec::new();
    let mut length = [0; 4];
    if !fill(socket, &mut length, &mut files)? {
        return Ok(None);
    }
    let length = usize::try_from(u32::from_le_bytes(length)).map_err(io::Error::other)?;
    if length > MESSAGE_BYTES_MAX {
        return Err(io::Error::other("a message of the sandbox helper is too long"));
    }
    let mut body = vec![0; length];
    if !fill(socket, &mut body, &mut files)? {
        return Ok(None);
    }
    Ok(Some(Message { body, files }))
}

/// Fills the buffer. Returns whether the other end is still there.
fn fill(socket: BorrowedFd<'_>, buffer: &mut [u8], files: &mut Vec<OwnedFd>) -> io::Result<bool> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        match recvmsg(socket, &mut [IoSliceMut::new(rest)], &mut control, RecvFlags::CMSG_CLOEXEC) {
            Ok(received) if received.bytes == 0 => return Ok(false),
            Ok(received) => filled += received.bytes,
            Err(Errno::INTR) => {}
            Err(Errno::CONNRESET) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = message {
                files.extend(received);
            }
        }
    }
    Ok(true)
}

/// Builds a message.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    fn status(&mut self, number: i32) {
        self.0.extend(number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }

    fn text(&mut self, text: &OsStr) {
        self.bytes(text.as_bytes());
    }

    fn path(&mut self, path: &Path) {
        self.text(path.as_os_str());
    }

    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.number(items.len() as u64);
        items.iter().for_each(|item| each(self, item));
    }
}

/// Reads a message.
struct Reader<'a> {
    rest: &'a [u8],
    files: std::vec::IntoIter<OwnedFd>,
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "malformed message of the sandbox helper")
}

impl Reader<'_> {
    fn take(&mut self, bytes: usize) -> io::Result<&[u8]> {
        let (taken, rest) = self.rest.split_at_checked(bytes).ok_or_else(malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> io::Result<u8> {
        self.take(1)?.first().copied().ok_or_else(malformed)
    }

    fn number(&mut self) -> io::Result<u64> {
        self.take(8)?.try_into().map(u64::from_le_bytes).map_err(|_| malformed())
    }

    fn status(&mut self) -> io::Result<i32> {
        self.take(4)?.try_into().map(i32::from_le_bytes).map_err(|_| malformed())
    }

    fn text(&mut self) -> io::Result<OsString> {
        let length = usize::try_from(self.number()?).map_err(|_| malformed())?;
        Ok(OsString::from_vec(self.take(length)?.to_vec()))
    }

    fn path(&mut self) -> io::Result<PathBuf> {
        self.text().map(PathBuf::from)
    }

    fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> io::Result<T>) -> io::Result<Vec<T>> {
        let length = self.number()?;
        (0..length).map(|_| each(self)).collect()
    }

    fn file(&mut self) -> io::Result<OwnedFd> {
        self.files.next().ok_or_else(malformed)
    }
}

impl Request {
    pub(super) fn send(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        let mut writer = Writer::default();
        match self {
            Self::Setup { setup, inner } => {
                writer.byte(0);
                writer.list(&setup.overlays, |writer, overlay| {
                    [&overlay.lower, &overlay.upper, &overlay.work]
                        .into_iter()
                        .for_each(|it| writer.path(it));
                });
                writer.path(setup.temporary.as_deref().unwrap_or(Path::new("")));
                send(socket, &writer.0, &[inner.as_fd()])
            }
            Self::Start { id, execution } => {
                writer.byte(1);
                writer.number(*id);
                write_execution(&mut writer, execution);
                let mut files = vec![execution.told.as_fd(), execution.output.as_fd()];
                if let Some(pipes) = &execution.exchange {
                    files.extend([pipes.input.as_fd(), pipes.errors.as_fd()]);
                }
                send(socket, &writer.0, &files)
            }
            Self::Kill { id } => {
                writer.byte(2);
                writer.number(*id);
                send(socket, &writer.0, &[])
            }
            Self::Socket { id, version } => {
                writer.byte(3);
                writer.number(*id);
                writer.byte(match version {
                    IpVersion::V4 => 4,
                    IpVersion::V6 => 6,
                });
                send(socket, &writer.0, &[])
            }
        }
    }

    pub(super) fn read(message: Message) -> io::Result<Self> {
        let mut reader = Reader { rest: &message.body, files: message.files.into_iter() };
        match reader.byte()? {
            0 => {
                let overlays = reader.list(|reader| {
                    Ok(Overlay { lower: reader.path()?, upper: reader.path()?, work: reader.path()? })
                })?;
                let temporary = Some(reader.path()?).filter(|path| path.is_absolute());
                Ok(Self::Setup { setup: HelperSetup { overlays, temporary }, inner: reader.file()? })
            }
            1 => {
                let id = reader.number()?;
                let execution = Box::new(read_execution(&mut reader)?);
                Ok(Self::Start { id, execution })
            }
            2 => Ok(Self::Kill { id: reader.number()? }),
            3 => {
                let id = reader.number()?;
                let version = match reader.byte()? {
                    4 => IpVersion::V4,
                    6 => IpVersion::V6,
                    _ => return Err(malformed()),
                };
                Ok(Self::Socket { id, version })
            }
            _ => Err(malformed()),
        }
    }
}

impl Reply {
    pub(super) fn send(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        let mut writer = Writer::default();
        match self {
            Self::Ready { failed, listener } => {
                writer.byte(0);
                writer.list(failed, |writer, (path, errno)| {
                    writer.path(path);
                    writer.status(*errno);
                });
                writer.byte(listener.is_some().into());
                let listener: Vec<BorrowedFd<'_>> = listener.iter().map(AsFd::as_fd).collect();
                return send(socket, &writer.0, &listener);
            }
            Self::Broken { errno, what } => {
                writer.byte(1);
                writer.status(*errno);
                writer.bytes(what.as_bytes());
            }
            Self::Started { id } => {
                writer.byte(2);
                writer.number(*id);
            }
            Self::Failed { id, errno } => {
                writer.byte(3);
                writer.number(*id);
                writer.status(*errno);
            }
            Self::Ended { id, status } => {
                writer.byte(4);
                writer.number(*id);
                writer.status(*status);
            }
            Self::Socket { id, socket: made } => {
                writer.byte(5);
                writer.number(*id);
                return send(socket, &writer.0, &[made.as_fd()]);
            }
        }
        send(socket, &writer.0, &[])
    }

    pub(super) fn read(message: Message) -> io::Result<Self> {
        let mut reader = Reader { rest: &message.body, files: message.files.into_iter() };
        match reader.byte()? {
            0 => {
                let failed = reader.list(|reader| Ok((reader.path()?, reader.status()?)))?;
                let listener = if reader.byte()? == 0 { None } else { Some(reader.file()?) };
                Ok(Self::Ready { failed, listener })
            }
            1 => {
                let errno = reader.status()?;
                Ok(Self::Broken { errno, what: reader.text()?.to_string_lossy().into_owned() })
            }
            2 => Ok(Self::Started { id: reader.number()? }),
            3 => Ok(Self::Failed { id: reader.number()?, errno: reader.status()? }),
            4 => Ok(Self::Ended { id: reader.number()?, status: reader.status()? }),
            5 => Ok(Self::Socket { id: reader.number()?, socket: reader.file()? }),
            _ => Err(malformed()),
        }
    }
}

fn write_execution(writer: &mut Writer, execution: &Execution) {
    writer.path(&execution.program);
    writer.list(&execution.arguments, |writer, argument| writer.text(argument));
    writer.list(&execution.variables, |writer, (name, value)| {
        writer.text(name);
        writer.text(value);
    });
    writer.path(&execution.dir);
    let places = execution.view.as_ref().map_or([].as_slice(), |view| view.places.as_slice());
    writer.byte(execution.view.is_some().into());
    writer.list(places, |writer, (path, shown)| {
        writer.path(path);
        match shown {
            PathView::Empty => writer.byte(0),
            PathView::Absent => writer.byte(1),
            PathView::ReadOnly(source) => {
                writer.byte(2);
                writer.path(source);
            }
            PathView::Writable(source) => {
                writer.byte(3);
                writer.path(source);
            }
            PathView::Guarded => writer.byte(4),
        }
    });
    let ResourceLimits { processes, memory_bytes, file_bytes } = execution.limits;
    for limit in [processes, memory_bytes, file_bytes] {
        writer.number(limit.unwrap_or(u64::MAX));
    }
    writer.byte(execution.exchange.is_some().into());
    match &execution.restrictions {
        None => writer.byte(0),
        Some(Restrictions { files, sockets }) => {
            writer.byte(1);
            writer.byte(match sockets {
                None => 0,
                Some(Sockets::Pairs) => 1,
                Some(Sockets::NoPaths) => 3,
                Some(Sockets::Namespaced) => 2,
            });
            match files {
                Files::AsMounted => writer.byte(0),
                Files::OnlyIn(dirs) => {
                    writer.byte(1);
                    writer.list(dirs, |writer, dir| writer.path(dir));
                }
            }
        }
    }
}

fn read_execution(reader: &mut Reader<'_>) -> io::Result<Execution> {
    let program = reader.path()?;
    let arguments = reader.list(Reader::text)?;
    let variables = reader.list(|reader| Ok((reader.text()?, reader.text()?)))?;
    let dir = reader.path()?;
    let has_view = reader.byte()? == 1;
    let places = reader.list(|reader| {
        let path = reader.path()?;
        let shown = match reader.byte()? {
            0 => PathView::Empty,
            1 => PathView::Absent,
            2 => PathView::ReadOnly(reader.path()?),
            3 => PathView::Writable(reader.path()?),
            4 => PathView::Guarded,
            _ => return Err(malformed()),
        };
        Ok((path, shown))
    })?;
    let mut limit = || reader.number().map(|number| Some(number).filter(|number| *number != u64::MAX));
    let limits = ResourceLimits { processes: limit()?, memory_bytes: limit()?, file_bytes: limit()? };
    let has_exchange = reader.byte()? == 1;
    let restrictions = match reader.byte()? {
        0 => None,
        _ => Some(read_restrictions(reader)?),
    };
    let (told, output) = (PipeWriter::from(reader.file()?), PipeWriter::from(reader.file()?));
    let exchange = match has_exchange {
        true => {
            let (input, errors) = (PipeReader::from(reader.file()?), PipeWriter::from(reader.file()?));
            Some(ExchangePipes { input, errors })
        }
        false => None,
    };
    let view = has_view.then_some(View { places });
    Ok(Execution { program, arguments, variables, dir, view, restrictions, limits, told, output, exchange })
}

fn read_restrictions(reader: &mut Reader<'_>) -> io::Result<Restrictions> {
    let sockets = match reader.byte()? {
        0 => None,
        1 => Some(Sockets::Pairs),
        3 => Some(Sockets::NoPaths),
        2 => Some(Sockets::Namespaced),
        _ => return Err(malformed()),
    };
    let files = match reader.byte()? {
        0 => Files::AsMounted,
        1 => Files::OnlyIn(reader.list(Reader::path)?),
        _ => return Err(malformed()),
    };
    Ok(Restrictions { files, sockets })
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
