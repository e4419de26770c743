//! The first process of a PID namespace. The kernel lets no signal from within the namespace end it, so it is not the program
//! itself: a shell that kills itself would live on. It is a copy of the process that starts the command, without any rights.
//! It starts the program, reaps orphans, reports how the program ended, and takes everything else in the namespace with it.
//!
//! Like the supervisor, it does only what is safe between fork and exec: system calls, no allocation, no locks.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::{DumpableBehavior, Pid, WaitOptions};
use rustix::thread::{CapabilitySet, CapabilitySets};

/// Where the first process reports how its program ended.
#[derive(Debug)]
pub(super) struct EndReport(OwnedFd);

/// The first process's end of the report.
pub(super) struct Reporter(OwnedFd);

/// The number of the standard files, and of the one after them that a program may inherit.
const RESERVED_FILES: i32 = 4;

pub(super) fn report() -> io::Result<(EndReport, Reporter)> {
    let (report, reporter) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    Ok((EndReport(report), Reporter(rustix::io::fcntl_dupfd_cloexec(reporter, RESERVED_FILES)?)))
}

impl EndReport {
    /// Waits until the program was executed, or could not be.
    pub(super) fn begin(self) -> io::Result<Self> {
        match self.number()? {
            0 => {
                // Another process may hold the other end for a moment, so the end is read without waiting for it.
                rustix::fs::fcntl_setfl(&self.0, OFlags::NONBLOCK)?;
                Ok(self)
            }
            problem => Err(io::Error::from_raw_os_error(problem)),
        }
    }

    /// The raw status of the program once the first process has ended; that of the first process if it was killed.
    pub(super) fn status_or(&self, own: i32) -> i32 {
        self.number().unwrap_or(own)
    }

    fn number(&self) -> io::Result<i32> {
        let mut number = [0; 4];
        loop {
            match rustix::io::read(&self.0, &mut number) {
                Ok(4) => return Ok(i32::from_ne_bytes(number)),
                Ok(_) => return Err(io::ErrorKind::BrokenPipe.into()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Reporter {
    /// It fails only if the agent is gone.
    fn tell(&self, number: i32) {
        rustix::io::write(&self.0, &number.to_ne_bytes()).ok();
    }
}

/// Makes this process useless to the program: taking it over gains nothing.
pub(super) fn give_up_rights() -> rustix::io::Result<()> {
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(
        None,
        CapabilitySets { effective: none, permitted: none, inheritable: none },
    )
}

/// Nothing in the namespace can trace this process or read its memory.
pub(super) fn become_unreadable() -> rustix::io::Result<()> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

/// Runs until the program has ended, or reports why it was not started.
pub(super) fn stay(reporter: &Reporter, program: Result<Pid, i32>) -> ! {
    let program = match program {
        Ok(program) => program,
        Err(problem) => {
            reporter.tell(problem);
            kernel::exit()
        }
    };
    // It holds no pipe of the command open.
    kernel::close_all_but(reporter.0.as_raw_fd());
    reporter.tell(0);
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended == program => {
                reporter.tell(status.as_raw());
                kernel::exit()
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => kernel::exit(),
        }
    }
}

/// Copies this process into new namespaces. Returns the copy's id, and `None` in the copy.
pub(super) fn fork(namespaces: libc::c_int) -> io::Result<Option<Pid>> {
    kernel::fork(namespaces)
}

#[allow(unsafe_code, reason = "rustix has no safe wrapper for these system calls")]
mod kernel {
    use std::io;

    use rustix::process::Pid;

    pub(super) fn fork(namespaces: libc::c_int) -> io::Result<Option<Pid>> {
        let flags = libc::c_long::from(namespaces | libc::SIGCHLD);
        // SAFETY: without a stack and without shared memory this is a fork. The copy only calls the kernel; what other
        // threads were about to do does not matter to it.
        match unsafe { libc::syscall(libc::SYS_clone, flags, 0_usize, 0_usize, 0_usize, 0_usize) } {
            -1 => Err(io::Error::last_os_error()),
            pid => Ok(i32::try_from(pid).ok().and_then(Pid::from_raw)),
        }
    }

    pub(super) fn close_all_but(kept: i32) {
        for (first, last) in [(0, kept - 1), (kept + 1, i32::MAX)] {
            // SAFETY: this process never returns to the owners of these files. A kernel without this call leaves them open
            // until the program has ended.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        }
    }

    pub(super) fn exit() -> ! {
        // SAFETY: it ends the process at once.
        unsafe { libc::_exit(0) }
    }
}
