//! What happens between the fork and the exec of a command. Every one is tied to the agent and is handed none of its
//! files.
//!
//! The supervisor: a process between the agent and the shell, where there is no PID namespace. Whatever loses its parent
//! is adopted by it, whatever it did with sessions, groups and variables; when the shell or the agent ends, it ends all.
//!
//! It is a fork of the agent that never becomes another program, so it does only what is possible between a fork and an
//! exec: calls of the kernel, no memory that grows, no locks.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, RawDir};
use rustix::process::{DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};

/// The supervisor ends all when this is dropped, or when the agent ends.
#[derive(Debug)]
pub(super) struct Lifeline {
    _agents_end: PipeWriter,
}

/// Makes `command` end with the agent, and hands none of the agent's files to it.
pub(super) fn tied(command: &mut Command) {
    let agent = rustix::process::getpid();
    #[allow(unsafe_code, reason = "a process can be tied to its parent only by itself")]
    // SAFETY: the closure calls the kernel and nothing that allocates or locks.
    unsafe {
        command.pre_exec(move || tie_to(Some(agent)));
    }
}

/// The parent may have ended before it could be asked for.
fn tie_to(parent: Option<Pid>) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    if rustix::process::getppid() != parent {
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    close_on_exec();
    Ok(())
}

/// Puts a supervisor before `command`. The process that is started is the supervisor; it ends as the shell ends.
pub(super) fn supervised(command: &mut Command) -> io::Result<Option<Lifeline>> {
    let (supervisors_end, agents_end) = io::pipe()?;
    #[allow(unsafe_code, reason = "a supervisor must be forked before the shell is executed")]
    // SAFETY: the closure calls the kernel and nothing that allocates or locks.
    unsafe {
        command.pre_exec(move || split(&supervisors_end));
    }
    Ok(Some(Lifeline { _agents_end: agents_end }))
}

/// Returns in the shell's process; the supervisor stays in here until all is over.
fn split(lifeline: &PipeReader) -> io::Result<()> {
    // No signal of the agent's terminal reaches it, and nobody reads the agent's keys in its memory.
    rustix::process::setsid()?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let supervisor = rustix::process::getpid();
    match fork()? {
        Some(shell) => supervise(lifeline, shell),
        None => {
            rustix::process::setsid()?;
            tie_to(Some(supervisor))
        }
    }
}

/// How long is waited at most before processes that were adopted and ended are cleared away.
const CLEAR_EVERY: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// The same on a kernel that does not tell when a process ends.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

fn supervise(lifeline: &PipeReader, shell: Pid) -> ! {
    block_signals();
    let lifeline = keep_only(lifeline);
    let shell_end = rustix::process::pidfd_open(shell, PidfdFlags::empty()).ok();
    let mut status = None;
    loop {
        clear_ended(shell, &mut status);
        if status.is_some() || wait_for_news(lifeline.as_ref(), shell_end.as_ref()) == News::AgentIsGone {
            break;
        }
    }
    end_all(shell, &mut status);
    end_like(status)
}

#[derive(PartialEq, Eq)]
enum News {
    AgentIsGone,
    Perhaps,
}

fn wait_for_news(lifeline: Option<&OwnedFd>, shell_end: Option<&OwnedFd>) -> News {
    let Some(lifeline) = lifeline else { return News::AgentIsGone };
    let mut watched =
        [PollFd::new(lifeline, PollFlags::IN), PollFd::new(shell_end.unwrap_or(lifeline), PollFlags::IN)];
    let timeout = if shell_end.is_some() { &CLEAR_EVERY } else { &LOOK_EVERY };
    // An interruption is news of nothing.
    poll(&mut watched, Some(timeout)).ok();
    let [agent, _] = &watched;
    if agent.revents().is_empty() { News::Perhaps } else { News::AgentIsGone }
}

/// Clears away what has ended; whether anything is left.
fn clear_ended(shell: Pid, status: &mut Option<WaitStatus>) -> bool {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, ended))) if pid == shell => *status = Some(ended),
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// How often children are looked for and ended. Some may belong to another user and cannot be ended at all.
const ROUNDS_MAX: usize = 4_000;

/// Ends children until there are none: those of a child that was ended are the next children.
fn end_all(shell: Pid, status: &mut Option<WaitStatus>) {
    for round in 0..ROUNDS_MAX {
        if !clear_ended(shell, status) {
            return;
        }
        end_children();
        if round > 0 {
            // The kernel may need a moment to end what it was told to end.
            poll(&mut [], Some(&Timespec { tv_sec: 0, tv_nsec: 1_000_000 })).ok();
        }
    }
}

fn end_children() {
    let own = rustix::process::getpid();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(folder) = rustix::fs::open(c"/proc", flags, Mode::empty()) else { return };
    let mut buffer = [std::mem::MaybeUninit::uninit(); 8 * 1024];
    let mut entries = RawDir::new(&folder, &mut buffer);
    while let Some(Ok(entry)) = entries.next() {
        let Some(pid) = number(entry.file_name().to_bytes()) else { continue };
        if parent(folder.as_fd(), entry.file_name()) == Some(own.as_raw_pid())
            && let Some(pid) = Pid::from_raw(pid)
        {
            // An error means that it is gone already, or another user's.
            rustix::process::kill_process(pid, Signal::KILL).ok();
        }
    }
}

/// The parent of a process: the second field after its name, which is in parentheses and may hold anything.
fn parent(processes: BorrowedFd<'_>, name: &std::ffi::CStr) -> Option<i32> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let folder = rustix::fs::openat(processes, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let file = rustix::fs::openat(&folder, c"stat", flags, Mode::empty()).ok()?;
    let mut buffer = [0; 512];
    let bytes = rustix::io::read(&file, &mut buffer).ok()?;
    let after_name = buffer.get(..bytes)?.rsplit(|byte| *byte == b')').next()?;
    number(after_name.split(|byte| *byte == b' ').nth(2)?)
}

fn number(digits: &[u8]) -> Option<i32> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Closes everything but the lifeline, so that no pipe stays open for the supervisor's sake.
fn keep_only(lifeline: &PipeReader) -> Option<OwnedFd> {
    let kept = lifeline.as_raw_fd();
    close_range(0, kept - 1);
    close_range(kept + 1, i32::MAX);
    // From here on nothing else owns it: the supervisor never returns to those who do.
    lifeline.as_fd().try_clone_to_owned().ok()
}

#[allow(unsafe_code, reason = "the system's library has no safe name for these calls of the kernel")]
mod system {
    use std::io;

    use rustix::process::{Pid, WaitStatus};

    /// The child in the parent, nothing in the child.
    pub(super) fn fork() -> io::Result<Option<Pid>> {
        // SAFETY: this process has one thread, for it is itself the child of a fork.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            pid => Ok(Pid::from_raw(pid)),
        }
    }

    /// Closes all descriptors of a range that are open.
    pub(super) fn close_range(first: i32, last: i32) {
        if first > last {
            return;
        }
        // SAFETY: whoever owns them is never returned to in this process.
        let closed = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        if closed == -1 {
            (first..=last.min(DESCRIPTORS_MAX)).for_each(|descriptor| {
                // SAFETY: as above.
                unsafe { libc::close(descriptor) };
            });
        }
    }

    /// Marks all descriptors but the first three to be closed when another program is executed. Those that this library
    /// and the standard library open are marked anyway; those that the agent was started with may not be.
    pub(super) fn close_on_exec() {
        // SAFETY: it closes nothing yet. A kernel without this call leaves them as they are.
        unsafe { libc::syscall(libc::SYS_close_range, 3, i32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    }

    /// How many descriptors are closed one by one on a kernel that cannot close a range.
    const DESCRIPTORS_MAX: i32 = 65_536;

    /// Holds all signals back that can be held back.
    pub(super) fn block_signals() {
        // SAFETY: the set is filled before it is read.
        unsafe {
            let mut all = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
        }
    }

    /// Ends this process the way another ended.
    pub(super) fn end_like(status: Option<WaitStatus>) -> ! {
        if let Some(signal) = status.and_then(WaitStatus::terminating_signal) {
            // SAFETY: the set is emptied before it is read; a signal that ended another process ends this one.
            unsafe {
                let mut none = std::mem::zeroed();
                libc::sigemptyset(&raw mut none);
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
                libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
            }
        }
        let code = status.and_then(WaitStatus::exit_status).unwrap_or(KILLED);
        // SAFETY: it ends the process at once and calls nothing else.
        unsafe { libc::_exit(code) }
    }

    /// What shells report for a process that was killed.
    const KILLED: i32 = 137;
}

use system::{block_signals, close_on_exec, close_range, end_like, fork};
