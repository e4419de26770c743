//! The helper of a session: a small process with a single thread, started once by the agent from its own program. It owns
//! the namespaces of the session, mounts its copy-on-write layers, starts every command, reaps it and kills it on request.
//!
//! It has two halves that share a user and a mount namespace. The outer half keeps the machine's network, for commands
//! that may use all of it. The inner half has a network of its own with nothing but a loopback interface, so that the
//! commands of a session reach each other and nothing else. Both end with the agent, and every command with its half.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::FlockOperation;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};
use rustix::thread::UnshareFlags;

use super::execution::{Capabilities, Execution, Namespaces, ProcessSetup};
use super::mounts::{begin_loopback, make_read_only, mount_overlay};
use super::plan::{Plan, Started, map_own_user};
use super::wire::{HelperSetup, IpVersion, Reply, Request, receive};

/// Runs the helper until the agent is gone. `outer` is its socket.
pub(super) fn serve(outer: &OwnedFd) {
    match begin(outer.as_fd()) {
        Ok(Some(ended)) => {
            if let Some(inner) = ended.inner {
                end(inner);
            }
            if let Some(temporary) = ended.setup.temporary {
                remove_unlocked(&temporary);
            }
        }
        Ok(None) => {}
        Err(Problem { what, error }) => {
            let errno = error.raw_os_error().unwrap_or(libc::EIO);
            // It fails only if the agent is gone.
            drop(Reply::Broken { errno, what: what.into() }.send(outer.as_fd()));
        }
    }
}

/// What to clean up when the agent is gone.
struct Remains {
    setup: HelperSetup,
    inner: Option<Pid>,
}

struct Problem {
    what: &'static str,
    error: io::Error,
}

fn while_doing<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Problem {
    move |error| Problem { what, error: error.into() }
}

fn begin(outer: BorrowedFd<'_>) -> Result<Option<Remains>, Problem> {
    // It stays dumpable, because otherwise an ordinary user could not map ids. It has no secrets: it is a fresh
    // program without an environment.
    rustix::process::setsid().ok();
    let Some(message) = receive(outer).map_err(while_doing("receive its orders"))? else { return Ok(None) };
    let request = Request::read(message).map_err(while_doing("read its orders"))?;
    let Request::Setup { setup, inner } = request else {
        return Err(Problem { what: "read its orders", error: io::ErrorKind::InvalidData.into() });
    };
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS).map_err(while_doing("create a user namespace"))?;
    map_own_user(&[format!("{user} {user} 1\n"), format!("{group} {group} 1\n")])
        .map_err(while_doing("map its user"))?;
    // Mounts of the machine still arrive; ours stay here.
    mount_change(c"/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)
        .map_err(while_doing("keep its mounts to itself"))?;
    let mut failed = Vec::new();
    for overlay in &setup.overlays {
        if let Err(error) = mount_overlay(overlay) {
            // The view of commands makes it writable, so it must not be the user's own directory.
            make_read_only(&overlay.lower).map_err(while_doing("protect a directory without its layer"))?;
            failed.push((overlay.lower.clone(), error.raw_os_error()));
        }
    }
    let inner_process = start_inner(&inner).map_err(while_doing("start its half without a network"))?;
    drop(inner);
    let ready = Reply::Ready { failed, listener: None };
    if ready.send(outer).is_ok() {
        Commands::default().run(outer);
    }
    Ok(Some(Remains { setup, inner: Some(inner_process) }))
}

/// Starts the half with a network of its own.
fn start_inner(socket: &OwnedFd) -> io::Result<Pid> {
    let parent = rustix::process::getpid();
    if let Some(inner) = kernel::fork()? {
        return Ok(inner);
    }
    let code = match begin_inner(socket.as_fd(), parent) {
        Ok(()) => 0,
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(libc::EIO);
            let what = "create a network namespace".into();
            // It fails only if the agent is gone.
            drop(Reply::Broken { errno, what }.send(socket.as_fd()));
            1
        }
    };
    kernel::exit(code)
}

fn begin_inner(socket: BorrowedFd<'_>, parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    if rustix::process::getppid() != Some(parent) {
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    // The outer socket belongs to the other half alone, which would otherwise never see its end.
    kernel::close_standard_input();
    unshare(UnshareFlags::NEWNET)?;
    begin_loopback()?;
    let listener = OwnedFd::from(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?);
    Reply::Ready { failed: Vec::new(), listener: Some(listener) }.send(socket)?;
    Commands::default().run(socket);
    Ok(())
}

/// Every command runs in namespaces of its own within those of the helper, whose network it shares.
const SETUP: ProcessSetup =
    ProcessSetup { namespaces: Namespaces::AllButNetwork, capabilities: Capabilities::Dropped };

/// The running commands of one half.
#[derive(Default)]
struct Commands {
    running: BTreeMap<u64, Command>,
}

struct Command {
    process: Started,
    /// Becomes readable when it ends.
    end: OwnedFd,
}

impl Command {
    /// The raw status of its program.
    fn wait(self) -> i32 {
        let own = wait(self.process.pid);
        self.process.report.map_or(own, |report| report.status_or(own))
    }
}

impl Commands {
    /// Serves the agent until it is gone, then ends everything.
    fn run(mut self, socket: BorrowedFd<'_>) {
        while self.step(socket).is_ok() {}
        for command in self.running.values() {
            rustix::process::kill_process(command.process.pid, Signal::KILL).ok();
        }
        for command in self.running.into_values() {
            wait(command.process.pid);
        }
    }

    /// Waits for a request or the end of a command. An error means that the agent is gone.
    fn step(&mut self, socket: BorrowedFd<'_>) -> io::Result<()> {
        let mut watched = vec![PollFd::new(&socket, PollFlags::IN)];
        watched.extend(self.running.values().map(|command| PollFd::new(&command.end, PollFlags::IN)));
        match poll(&mut watched, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut is_ready = watched.iter().map(|file| !file.revents().is_empty());
        let has_request = is_ready.next().unwrap_or_default();
        let ended: Vec<u64> =
            self.running.keys().zip(is_ready).filter(|(_, is_ready)| *is_ready).map(|(id, _)| *id).collect();
        for id in ended {
            if let Some(command) = self.running.remove(&id) {
                Reply::Ended { id, status: command.wait() }.send(socket)?;
            }
        }
        if !has_request {
            return Ok(());
        }
        let message = receive(socket)?.ok_or(io::ErrorKind::BrokenPipe)?;
        match Request::read(message)? {
            Request::Start { id, execution } => self.start(id, &execution).send(socket),
            Request::Kill { id } => {
                if let Some(command) = self.running.get(&id) {
                    rustix::process::kill_process(command.process.pid, Signal::KILL).ok();
                }
                Ok(())
            }
            Request::Socket { id, version } => match tcp_socket(version) {
                Ok(made) => Reply::Socket { id, socket: made }.send(socket),
                Err(error) => Reply::Failed { id, errno: error.raw_os_error() }.send(socket),
            },
            Request::Setup { .. } => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn start(&mut self, id: u64, execution: &Execution) -> Reply {
        let started = Plan::new(execution, SETUP).and_then(|mut plan| plan.start()).and_then(|process| {
            match rustix::process::pidfd_open(process.pid, PidfdFlags::empty()) {
                Ok(end) => Ok(Command { process, end }),
                Err(error) => {
                    end(process.pid);
                    Err(error.into())
                }
            }
        });
        match started {
            Ok(command) => {
                self.running.insert(id, command);
                Reply::Started { id }
            }
            Err(error) => Reply::Failed { id, errno: error.raw_os_error().unwrap_or(libc::EIO) },
        }
    }
}

fn tcp_socket(version: IpVersion) -> rustix::io::Result<OwnedFd> {
    let family = match version {
        IpVersion::V4 => rustix::net::AddressFamily::INET,
        IpVersion::V6 => rustix::net::AddressFamily::INET6,
    };
    let flags = rustix::net::SocketFlags::CLOEXEC;
    rustix::net::socket_with(family, rustix::net::SocketType::STREAM, flags, None)
}

fn end(pid: Pid) {
    rustix::process::kill_process(pid, Signal::KILL).ok();
    wait(pid);
}

/// The raw status of a process that has ended or is about to.
fn wait(pid: Pid) -> i32 {
    loop {
        match rustix::process::waitpid(Some(pid), WaitOptions::empty()) {
            Ok(Some((_, status))) => return status.as_raw(),
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return libc::SIGKILL,
        }
    }
}

/// Removes the temporary directory of a killed agent. A live one holds a lock on it and removes it itself.
fn remove_unlocked(dir: &Path) {
    let Ok(file) = File::open(dir) else { return };
    if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
        drop(std::fs::remove_dir_all(dir));
    }
}

#[allow(deprecated, reason = "this process has a single thread, which owns all of its files")]
fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    rustix::thread::unshare(flags)
}

#[allow(unsafe_code, reason = "rustix has no safe wrapper for these system calls")]
mod kernel {
    use std::io;

    use rustix::process::Pid;

    /// Returns the child in the parent, and `None` in the child.
    pub(super) fn fork() -> io::Result<Option<Pid>> {
        // SAFETY: this process has a single thread, so the child is a whole process.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            pid => Ok(Pid::from_raw(pid)),
        }
    }

    pub(super) fn close_standard_input() {
        // SAFETY: this half uses no standard input and opens nothing that expects it to be closed.
        unsafe { libc::close(0) };
    }

    pub(super) fn exit(code: i32) -> ! {
        // SAFETY: it ends the process at once.
        unsafe { libc::_exit(code) }
    }
}
