//! The supervisor: a process between the agent and the shell, used where there is no PID namespace. It adopts every
//! orphan, regardless of sessions, groups and variables. When the shell or the agent ends, it ends everything.
//!
//! It is a fork of the agent that never executes another program, so it does only what is safe between fork and exec:
//! system calls, no allocation, no locks. It has its own memory, although forking a large agent costs more: whatever
//! kills the agent, including a lack of memory, must not kill the supervisor too.

use std::io::{self, PipeReader, PipeWriter, Read as _};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, RawDir};
use rustix::process::{DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};

use super::plan::Plan;

/// The supervisor ends everything when this is dropped or when the agent ends.
#[derive(Debug)]
pub(super) struct Lifeline {
    _agents_end: PipeWriter,
}

/// The supervisor's end of a lifeline.
#[derive(Debug)]
pub(super) struct SupervisorsEnd(PipeReader);

/// Ties a supervisor to the agent.
pub(super) fn lifeline() -> io::Result<(Lifeline, SupervisorsEnd)> {
    let (supervisors_end, agents_end) = io::pipe()?;
    Ok((Lifeline { _agents_end: agents_end }, SupervisorsEnd(supervisors_end)))
}

/// Starts a supervisor, which starts the process of `plan` and exits with its status.
pub(super) fn supervise(plan: &mut Plan<'_>, lifeline: &SupervisorsEnd) -> io::Result<Pid> {
    let (mut problem, problem_end) = io::pipe()?;
    let Some(supervisor) = fork()? else {
        let shell = begin().and_then(|()| plan.start()).map(|started| started.pid);
        match shell {
            Ok(shell) => stay(&lifeline.0, shell),
            Err(error) => {
                let number = error.raw_os_error().unwrap_or(libc::EIO);
                // The write fails only if the agent has exited.
                rustix::io::write(&problem_end, &number.to_ne_bytes()).ok();
                end_like(None)
            }
        }
    };
    drop(problem_end);
    // Closed without a message once the shell runs.
    let mut number = [0; 4];
    match problem.read_exact(&mut number) {
        Err(_) => Ok(supervisor),
        Ok(()) => {
            while matches!(
                rustix::process::waitpid(Some(supervisor), WaitOptions::empty()),
                Err(rustix::io::Errno::INTR)
            ) {}
            Err(io::Error::from_raw_os_error(i32::from_ne_bytes(number)))
        }
    }
}

fn begin() -> io::Result<()> {
    // Keep signals of the agent's terminal away, and make the agent's keys in its memory unreadable.
    rustix::process::setsid()?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

/// The longest wait before adopted processes that ended are reaped.
const CLEAR_EVERY: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// The same on a kernel that does not report when a process ends.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Runs until everything has ended.
fn stay(lifeline: &PipeReader, shell: Pid) -> ! {
    block_signals();
    let lifeline = keep_only(lifeline);
    let shell_end = rustix::process::pidfd_open(shell, PidfdFlags::empty()).ok();
    let mut status = None;
    loop {
        clear_ended(shell, &mut status);
        if status.is_some() || wait_for_news(lifeline.as_ref(), shell_end.as_ref()) == Wakeup::AgentExited {
            break;
        }
    }
    end_all(shell, &mut status);
    end_like(status)
}

#[derive(PartialEq, Eq)]
enum Wakeup {
    AgentExited,
    Perhaps,
}

fn wait_for_news(lifeline: Option<&OwnedFd>, shell_end: Option<&OwnedFd>) -> Wakeup {
    let Some(lifeline) = lifeline else { return Wakeup::AgentExited };
    let mut watched =
        [PollFd::new(lifeline, PollFlags::IN), PollFd::new(shell_end.unwrap_or(lifeline), PollFlags::IN)];
    let timeout = if shell_end.is_some() { &CLEAR_EVERY } else { &LOOK_EVERY };
    // An interrupted wait is harmless.
    poll(&mut watched, Some(timeout)).ok();
    let [agent, _] = &watched;
    if agent.revents().is_empty() { Wakeup::Perhaps } else { Wakeup::AgentExited }
}

/// Reaps ended processes and returns whether any are left.
fn clear_ended(shell: Pid, status: &mut Option<WaitStatus>) -> bool {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, outcome))) if pid == shell => *status = Some(outcome),
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// How often to look for children and kill them. Some may belong to another user and cannot be killed.
const ROUNDS_MAX: usize = 4_000;

/// Kills children until there are none: the children of a killed child are adopted next.
fn end_all(shell: Pid, status: &mut Option<WaitStatus>) {
    for round in 0..ROUNDS_MAX {
        if !clear_ended(shell, status) {
            return;
        }
        end_children();
        if round > 0 {
            // The kernel may take a moment to end a killed process.
            poll(&mut [], Some(&Timespec { tv_sec: 0, tv_nsec: 1_000_000 })).ok();
        }
    }
}

fn end_children() {
    let own = rustix::process::getpid();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(dir) = rustix::fs::open(c"/proc", flags, Mode::empty()) else { return };
    let mut buffer = [std::mem::MaybeUninit::uninit(); 8 * 1024];
    let mut entries = RawDir::new(&dir, &mut buffer);
    while let Some(Ok(entry)) = entries.next() {
        let Some(pid) = number(entry.file_name().to_bytes()) else { continue };
        if parent(dir.as_fd(), entry.file_name()) == Some(own.as_raw_pid())
            && let Some(pid) = Pid::from_raw(pid)
        {
            // An error means that it has ended, or belongs to another user.
            rustix::process::kill_process(pid, Signal::KILL).ok();
        }
    }
}

/// The parent of a process: the second field after its name, which is in parentheses and may contain anything.
fn parent(processes: BorrowedFd<'_>, name: &std::ffi::CStr) -> Option<i32> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let dir = rustix::fs::openat(processes, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let file = rustix::fs::openat(&dir, c"stat", flags, Mode::empty()).ok()?;
    let mut buffer = [0; 512];
    let bytes = rustix::io::read(&file, &mut buffer).ok()?;
    let after_name = buffer.get(..bytes)?.rsplit(|byte| *byte == b')').next()?;
    number(after_name.split(|byte| *byte == b' ').nth(2)?)
}

fn number(digits: &[u8]) -> Option<i32> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Closes everything but the lifeline, so that the supervisor holds no pipe open.
fn keep_only(lifeline: &PipeReader) -> Option<OwnedFd> {
    let kept = lifeline.as_raw_fd();
    close_range(0, kept - 1);
    close_range(kept + 1, i32::MAX);
    // Nothing else owns it from here on: the supervisor never returns to its owners.
    lifeline.as_fd().try_clone_to_owned().ok()
}

#[allow(unsafe_code, reason = "rustix has no safe wrapper for these system calls")]
mod system {
    use std::io;

    use rustix::process::{Pid, WaitStatus};

    /// Returns the child in the parent, and `None` in the child.
    pub(super) fn fork() -> io::Result<Option<Pid>> {
        // SAFETY: the child only calls the kernel; what other threads of the agent were about to do does not matter to it.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            pid => Ok(Pid::from_raw(pid)),
        }
    }

    /// Closes all open descriptors of a range.
    pub(super) fn close_range(first: i32, last: i32) {
        if first > last {
            return;
        }
        // SAFETY: this process never returns to their owner.
        let closed = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        if closed == -1 {
            (first..=last.min(DESCRIPTORS_MAX)).for_each(|descriptor| {
                // SAFETY: as above.
                unsafe { libc::close(descriptor) };
            });
        }
    }

    /// How many descriptors to close one by one on a kernel without `close_range`.
    const DESCRIPTORS_MAX: i32 = 65_536;

    /// Blocks all signals that can be blocked.
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

    /// What shells report for a killed process.
    const KILLED: i32 = 137;
}

use system::{block_signals, close_range, end_like, fork};
