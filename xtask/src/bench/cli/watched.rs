//! `Watched`: a process whose time, work and memory are known when it has ended.

use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// A running process, in a group of its own.
#[derive(Debug)]
pub(super) struct Watched {
    child: Child,
    pub(super) began: Instant,
}

/// What a process took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taken {
    /// From its start to its end.
    pub(super) wall: Duration,
    /// The work of all its threads, without that of processes that it started.
    pub(super) own_work: Duration,
    /// Its work and that of all processes that it started and waited for.
    pub(super) all_work: Duration,
    /// The most memory that it, or one of those processes, had at once.
    pub(super) peak_bytes: u64,
    /// Whether it ended well.
    pub(super) is_success: bool,
}

impl Watched {
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        let began = Instant::now();
        let child = command.process_group(0).spawn();
        let child = child.with_context(|| format!("cannot start {:?}", command.get_program()))?;
        Ok(Self { child, began })
    }

    /// Waits for the end.
    pub(super) fn end(self) -> Result<Taken> {
        let pid = i32::try_from(self.child.id()).context("a process with a strange number")?;
        let taken = kernel::wait(pid, self.began);
        // Nothing that it left behind disturbs the next run.
        kernel::kill_group(pid);
        taken
    }

    /// Ends it and what it started.
    pub(super) fn stop(mut self) -> Result<()> {
        let pid = i32::try_from(self.child.id()).context("a process with a strange number")?;
        kernel::kill_group(pid);
        self.child.wait().context("cannot wait for a process")?;
        Ok(())
    }
}

#[allow(unsafe_code, reason = "the standard library does not say what a process took")]
mod kernel {
    use super::{Context, Duration, Instant, MaybeUninit, Result, Taken, ensure};

    /// Waits for the process and says what it took.
    pub(super) fn wait(pid: i32, began: Instant) -> Result<Taken> {
        let id = libc::id_t::try_from(pid).context("a process with a strange number")?;
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: `info` is large enough for what the kernel writes. The process is left to be waited for below.
        let ended =
            unsafe { libc::waitid(libc::P_PID, id, info.as_mut_ptr(), libc::WEXITED | libc::WNOWAIT) };
        ensure!(ended == 0, "cannot wait for process {pid}: {}", std::io::Error::last_os_error());
        let wall = began.elapsed();
        let own_work = work(pid)?;
        let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
        // SAFETY: both are large enough for what the kernel writes.
        let waited = unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) };
        ensure!(waited == pid, "cannot wait for process {pid}: {}", std::io::Error::last_os_error());
        // SAFETY: zeroes are a value of it, and so is what the kernel wrote.
        let usage = unsafe { usage.assume_init() };
        Ok(Taken {
            wall,
            own_work,
            all_work: of_timeval(usage.ru_utime) + of_timeval(usage.ru_stime),
            peak_bytes: u64::try_from(usage.ru_maxrss).unwrap_or_default() * 1024,
            is_success: libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
        })
    }

    /// The work of a process that has ended and was not waited for: the kernel still knows it, to the nanosecond.
    fn work(pid: i32) -> Result<Duration> {
        let (mut clock, mut time) = (0, libc::timespec { tv_sec: 0, tv_nsec: 0 });
        // SAFETY: both calls write one value of the type that they are given.
        let read = unsafe {
            libc::clock_getcpuclockid(pid, &raw mut clock) == 0
                && libc::clock_gettime(clock, &raw mut time) == 0
        };
        ensure!(read, "cannot read the clock of process {pid}: {}", std::io::Error::last_os_error());
        let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
        Ok(Duration::new(seconds.unwrap_or_default(), nanos.unwrap_or_default()))
    }

    /// Ends a group of processes; it may be gone.
    pub(super) fn kill_group(pid: i32) {
        // SAFETY: takes numbers only. The group is that of a process of ours, which led it.
        unsafe { libc::killpg(pid, libc::SIGKILL) };
    }

    fn of_timeval(time: libc::timeval) -> Duration {
        let (seconds, micros) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_usec));
        Duration::from_secs(seconds.unwrap_or_default()) + Duration::from_micros(micros.unwrap_or_default())
    }
}

#[cfg(test)]
#[path = "watched_tests.rs"]
mod tests;
