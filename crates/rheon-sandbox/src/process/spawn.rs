//! Starting a process, with or without a supervisor, and awaiting its end.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, WaitOptions, waitid, waitpid};

use super::execution::{Execution, ProcessSetup};
use super::plan::Plan;
use super::supervisor::{Lifeline, SupervisorsEnd, lifeline, supervise};

/// Whether a supervisor stands between the agent and the process.
#[derive(Debug)]
pub(super) enum Supervision {
    /// None: the process is ended by a signal.
    Absent,
    /// One that ends all when the other end of its lifeline is gone.
    Present(SupervisorsEnd),
}

impl Supervision {
    /// A supervisor that is to come, and what holds it.
    pub(super) fn present() -> io::Result<(Self, Option<Lifeline>)> {
        lifeline().map(|(agents_end, supervisors_end)| (Self::Present(supervisors_end), Some(agents_end)))
    }
}

/// A process that has not been reaped.
pub(super) struct Spawned(Pid);

/// Starts a process that ends with the thread that calls this, and gets none of the agent's files.
pub(super) fn spawn(
    execution: &Execution,
    setup: ProcessSetup,
    supervision: &Supervision,
) -> io::Result<Spawned> {
    let mut plan = Plan::new(execution, setup)?;
    match supervision {
        Supervision::Absent => plan.start(),
        Supervision::Present(lifeline) => supervise(&mut plan, lifeline),
    }
    .map(Spawned)
}

impl Spawned {
    pub(super) fn id(&self) -> u32 {
        self.0.as_raw_pid().unsigned_abs()
    }

    /// Waits until the process has ended and keeps its number reserved. An error is met again when it is reaped.
    pub(super) fn wait(&mut self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(self.0), options), Err(Errno::INTR)) {}
    }

    /// How it ended; its number is free after this.
    pub(super) fn reap(&mut self) -> io::Result<ExitStatus> {
        loop {
            match waitpid(Some(self.0), WaitOptions::empty()) {
                Ok(Some((_, status))) => return Ok(ExitStatus::from_raw(status.as_raw())),
                Ok(None) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
