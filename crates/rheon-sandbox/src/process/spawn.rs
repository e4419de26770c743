//! Starts a process, with or without a supervisor, and waits for it to end.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use rustix::io::Errno;
use rustix::process::{WaitId, WaitIdOptions, WaitOptions, waitid, waitpid};

use super::execution::{Execution, ProcessSetup};
use super::plan::{Plan, Started};
use super::supervisor::{Lifeline, SupervisorsEnd, lifeline, supervise};

/// Whether there is a supervisor between the agent and the process.
#[derive(Debug)]
pub(super) enum Supervision {
    /// No supervisor: a signal ends the process.
    Absent,
    /// A supervisor that ends everything when the other end of its lifeline closes.
    Present(SupervisorsEnd),
}

impl Supervision {
    /// Prepares a supervisor and its lifeline.
    pub(super) fn present() -> io::Result<(Self, Option<Lifeline>)> {
        lifeline().map(|(agents_end, supervisors_end)| (Self::Present(supervisors_end), Some(agents_end)))
    }
}

/// A process that has not been reaped.
pub(super) struct Spawned(Started);

/// Starts a process that ends with the calling thread and inherits none of the agent's files.
pub(super) fn spawn(
    execution: &Execution,
    setup: ProcessSetup,
    supervision: &Supervision,
) -> io::Result<Spawned> {
    let mut plan = Plan::new(execution, setup)?;
    match supervision {
        Supervision::Absent => plan.start(),
        Supervision::Present(lifeline) => {
            supervise(&mut plan, lifeline).map(|pid| Started { pid, report: None })
        }
    }
    .map(Spawned)
}

impl Spawned {
    pub(super) fn id(&self) -> u32 {
        self.0.pid.as_raw_pid().unsigned_abs()
    }

    /// Waits until the process has ended and keeps its id reserved. An error occurs again when it is reaped.
    pub(super) fn wait(&mut self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(self.0.pid), options), Err(Errno::INTR)) {}
    }

    /// Returns the exit status and frees the process id.
    pub(super) fn reap(&mut self) -> io::Result<ExitStatus> {
        loop {
            match waitpid(Some(self.0.pid), WaitOptions::empty()) {
                Ok(Some((_, status))) => {
                    let own = status.as_raw();
                    let status = self.0.report.as_ref().map_or(own, |report| report.status_or(own));
                    return Ok(ExitStatus::from_raw(status));
                }
                Ok(None) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
