//! `SessionHelper`: the agent's end of the helper of a session. It is started when the first command needs it, or
//! earlier on request, and again if it was killed.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::entry;
use super::execution::Execution;
pub use super::wire::Overlay;
use super::wire::{HelperSetup, IpVersion, Reply, Request, receive};

/// Which network a command has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HelperNetwork {
    /// The loopback interface of the session.
    Session,
    /// The machine's network.
    Machine,
}

/// The helper of a session. Dropping it ends all commands of the session.
#[derive(Debug)]
pub struct SessionHelper {
    setup: HelperSetup,
    running: Mutex<Option<Arc<Running>>>,
    listeners: Mutex<Option<ListenerSink>>,
}

/// Called with the listener inside the session's network, for each helper that was started.
type ListenerCallback = Arc<dyn Fn(std::net::TcpListener) + Send + Sync>;

struct ListenerSink(ListenerCallback);

impl std::fmt::Debug for ListenerSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ListenerSink")
    }
}

/// A helper process.
#[derive(Debug)]
struct Running {
    inner: Half,
    outer: Half,
    /// The port of the listener in the session's network.
    port: u16,
    /// The overlays that could not be mounted, and why.
    failed: Vec<(PathBuf, io::Error)>,
    process: Mutex<Child>,
}

/// One half of the helper.
#[derive(Debug)]
struct Half {
    socket: Arc<Mutex<OwnedFd>>,
    waiting: Arc<Waiting>,
}

/// Where the replies to each request go.
#[derive(Debug, Default)]
struct Waiting(Mutex<WaitingState>);

#[derive(Debug, Default)]
struct WaitingState {
    senders: BTreeMap<u64, mpsc::Sender<CommandReply>>,
    is_gone: bool,
}

#[derive(Debug)]
enum CommandReply {
    Started,
    Failed(io::Error),
    Ended(ExitStatus),
    Socket(OwnedFd),
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lost() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the sandbox helper of the session ended")
}

impl SessionHelper {
    /// A helper that is not started yet. It removes `temporary` if the agent is killed.
    pub fn new(temporary: Option<PathBuf>, overlays: Vec<Overlay>) -> Self {
        let setup = HelperSetup { overlays, temporary };
        Self { setup, running: Mutex::default(), listeners: Mutex::default() }
    }

    /// Whether this program can start a helper at all.
    pub fn is_available() -> bool {
        entry::is_available()
    }

    /// Calls `sink` with the listener in the session's network each time a helper starts. Blocks if none runs yet.
    pub fn listen(&self, sink: impl Fn(std::net::TcpListener) + Send + Sync + 'static) {
        *lock(&self.listeners) = Some(ListenerSink(Arc::new(sink)));
    }

    /// Starts the helper if it is not running. Blocks for a few milliseconds.
    pub fn warm(&self) -> io::Result<()> {
        self.running().map(drop)
    }

    /// The port of the listener in the session's network.
    pub fn port(&self) -> io::Result<u16> {
        Ok(self.running()?.port)
    }

    /// The overlays that could not be mounted, and why.
    pub fn failed_overlays(&self) -> io::Result<Vec<(PathBuf, String)>> {
        let running = self.running()?;
        Ok(running.failed.iter().map(|(path, error)| (path.clone(), error.to_string())).collect())
    }

    /// A TCP socket in the session's network for this kind of address. It is not connected yet.
    pub fn socket(&self, address: IpAddr) -> io::Result<std::net::TcpStream> {
        let version = if address.is_ipv6() { IpVersion::V6 } else { IpVersion::V4 };
        let running = self.running()?;
        let (_, replies) = running.inner.request(|id| Request::Socket { id, version })?;
        match replies.recv() {
            Ok(CommandReply::Socket(socket)) => Ok(socket.into()),
            Ok(CommandReply::Failed(error)) => Err(error),
            Ok(CommandReply::Started | CommandReply::Ended(_)) | Err(mpsc::RecvError) => Err(lost()),
        }
    }

    #[cfg(test)]
    pub(crate) fn process_id(&self) -> io::Result<u32> {
        Ok(lock(&self.running()?.process).id())
    }

    /// Starts a command and returns once it has executed its program.
    pub(super) fn start(&self, execution: Execution, network: HelperNetwork) -> io::Result<HelperCommand> {
        let running = self.running()?;
        let half = match network {
            HelperNetwork::Session => &running.inner,
            HelperNetwork::Machine => &running.outer,
        };
        let (id, replies) = half.request(move |id| Request::Start { id, execution: Box::new(execution) })?;
        match replies.recv() {
            Ok(CommandReply::Started) => {}
            Ok(CommandReply::Failed(error)) => return Err(error),
            Ok(CommandReply::Ended(_) | CommandReply::Socket(_)) | Err(mpsc::RecvError) => return Err(lost()),
        }
        let kill = KillHandle { id, socket: Arc::clone(&half.socket) };
        Ok(HelperCommand { replies, kill, _helper: running })
    }

    fn running(&self) -> io::Result<Arc<Running>> {
        let mut running = lock(&self.running);
        if let Some(alive) = running.as_ref().filter(|running| running.is_alive()) {
            return Ok(Arc::clone(alive));
        }
        let (started, listener) = Running::start(self.setup.clone())?;
        let started = Arc::new(started);
        *running = Some(Arc::clone(&started));
        drop(running);
        if let Some(ListenerSink(sink)) = &*lock(&self.listeners) {
            sink(listener);
        }
        Ok(started)
    }
}

impl Running {
    fn start(setup: HelperSetup) -> io::Result<(Self, std::net::TcpListener)> {
        let pair = || socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None);
        let ((outer, outer_end), (inner, inner_end)) = (pair()?, pair()?);
        // Dropped on failure, which closes the sockets and so ends the helper.
        let mut process = Unreaped(Some(entry::start(outer_end)?));
        Request::Setup { setup, inner: inner_end }.send(outer.as_fd())?;
        let failed = ready(&outer)?.failed;
        let listener = std::net::TcpListener::from(ready(&inner)?.listener.ok_or_else(lost)?);
        let failed = failed.into_iter().map(|(path, errno)| (path, io::Error::from_raw_os_error(errno)));
        let process = process.0.take().ok_or_else(lost)?;
        let running = Self {
            port: listener.local_addr()?.port(),
            failed: failed.collect(),
            outer: Half::new(outer)?,
            inner: Half::new(inner)?,
            process: Mutex::new(process),
        };
        Ok((running, listener))
    }

    fn is_alive(&self) -> bool {
        matches!(lock(&self.process).try_wait(), Ok(None))
            && [&self.inner, &self.outer].iter().all(|half| !lock(&half.waiting.0).is_gone)
    }
}

/// Closes the sockets, so that the helper ends, and reaps it.
impl Drop for Running {
    fn drop(&mut self) {
        self.inner.shut();
        self.outer.shut();
        drop(lock(&self.process).wait());
    }
}

/// A helper that is not set up yet.
struct Unreaped(Option<Child>);

impl Drop for Unreaped {
    fn drop(&mut self) {
        if let Some(process) = &mut self.0 {
            drop(process.kill());
            drop(process.wait());
        }
    }
}

/// What a half says once it is set up.
struct HalfReady {
    /// The mounts that failed, each with its error number.
    failed: Vec<(PathBuf, i32)>,
    listener: Option<OwnedFd>,
}

/// Waits for the first message of a half.
fn ready(socket: &OwnedFd) -> io::Result<HalfReady> {
    match Reply::read(receive(socket.as_fd())?.ok_or_else(lost)?)? {
        Reply::Ready { failed, listener } => Ok(HalfReady { failed, listener }),
        Reply::Broken { errno, what } => {
            let cause = io::Error::from_raw_os_error(errno);
            Err(io::Error::new(cause.kind(), format!("the sandbox helper cannot {what}: {cause}")))
        }
        Reply::Started { .. } | Reply::Failed { .. } | Reply::Ended { .. } | Reply::Socket { .. } => {
            Err(lost())
        }
    }
}

impl Half {
    fn new(socket: OwnedFd) -> io::Result<Self> {
        let waiting = Arc::new(Waiting::default());
        let (own, thread_waiting) = (socket.try_clone()?, Arc::clone(&waiting));
        std::thread::Builder::new().name("rheon-helper".into()).stack_size(128 * 1024).spawn(move || {
            while let Ok(Some(message)) = receive(own.as_fd()) {
                let Ok(reply) = Reply::read(message) else { break };
                thread_waiting.deliver(reply);
            }
            thread_waiting.close();
        })?;
        Ok(Self { socket: Arc::new(Mutex::new(socket)), waiting })
    }

    fn request(
        &self,
        request: impl FnOnce(u64) -> Request,
    ) -> io::Result<(u64, mpsc::Receiver<CommandReply>)> {
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = mpsc::channel();
        {
            let mut waiting = lock(&self.waiting.0);
            if waiting.is_gone {
                return Err(lost());
            }
            waiting.senders.insert(id, sender);
        }
        let request = request(id);
        let sent = request.send(lock(&self.socket).as_fd());
        // The request holds the writing ends of the pipes, which would never close.
        drop(request);
        if sent.is_err() {
            lock(&self.waiting.0).senders.remove(&id);
        }
        sent.map(|()| (id, receiver))
    }

    /// Also ends the thread that reads, which has the same socket.
    fn shut(&self) {
        rustix::net::shutdown(lock(&self.socket).as_fd(), rustix::net::Shutdown::Both).ok();
    }
}

impl Waiting {
    fn deliver(&self, reply: Reply) {
        let (id, reply, is_last) = match reply {
            Reply::Started { id } => (id, CommandReply::Started, false),
            Reply::Failed { id, errno } => {
                (id, CommandReply::Failed(io::Error::from_raw_os_error(errno)), true)
            }
            Reply::Ended { id, status } => (id, CommandReply::Ended(ExitStatus::from_raw(status)), true),
            Reply::Socket { id, socket } => (id, CommandReply::Socket(socket), true),
            Reply::Ready { .. } | Reply::Broken { .. } => return,
        };
        let mut waiting = lock(&self.0);
        let sender = if is_last { waiting.senders.remove(&id) } else { waiting.senders.get(&id).cloned() };
        if let Some(sender) = sender {
            // The receiver is gone if the caller gave up.
            drop(sender.send(reply));
        }
    }

    /// Nothing arrives any more. Callers that wait see the end of their channels.
    fn close(&self) {
        let mut waiting = lock(&self.0);
        waiting.is_gone = true;
        waiting.senders.clear();
    }
}

/// A command that the helper runs.
pub(super) struct HelperCommand {
    replies: mpsc::Receiver<CommandReply>,
    kill: KillHandle,
    _helper: Arc<Running>,
}

/// Kills a command of the helper.
#[derive(Debug, Clone)]
pub(super) struct KillHandle {
    id: u64,
    socket: Arc<Mutex<OwnedFd>>,
}

impl HelperCommand {
    pub(super) fn kill_handle(&self) -> KillHandle {
        self.kill.clone()
    }

    /// Waits for the end of the command. If the helper itself was killed, so was the command.
    pub(super) fn wait(self) -> ExitStatus {
        match self.replies.recv() {
            Ok(CommandReply::Ended(status)) => status,
            Ok(CommandReply::Started | CommandReply::Failed(_) | CommandReply::Socket(_))
            | Err(mpsc::RecvError) => ExitStatus::from_raw(libc::SIGKILL),
        }
    }
}

impl KillHandle {
    pub(super) fn kill(&self) {
        // It fails only if the helper has ended, and the command with it.
        drop(Request::Kill { id: self.id }.send(lock(&self.socket).as_fd()));
    }
}
