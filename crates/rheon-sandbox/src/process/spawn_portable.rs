//! Starts a process with the standard library only, for systems without namespaces.

use std::io;
use std::process::{Child, Command, ExitStatus};

use super::execution::{Capabilities, Execution, Namespaces, ProcessSetup};
use super::supervisor::Lifeline;

/// This system has no supervisor.
#[derive(Debug)]
pub(super) enum Supervision {
    Absent,
}

impl Supervision {
    pub(super) fn present() -> io::Result<(Self, Option<Lifeline>)> {
        Ok((Self::Absent, None))
    }
}

/// A process that has not been reaped.
pub(super) struct Spawned(Child);

/// Starts a process in its own process group.
pub(super) fn spawn(
    execution: &Execution,
    setup: ProcessSetup,
    _supervision: &Supervision,
) -> io::Result<Spawned> {
    match (beginning.namespaces, beginning.capabilities) {
        (Namespaces::Inherited, Capabilities::Preserved) => {}
        (_, _) => return Err(io::Error::other("this system has no namespaces and no capabilities")),
    }
    let mut command = Command::new(&execution.program);
    command.args(&execution.arguments).env_clear().envs(execution.variables.iter().cloned());
    command.current_dir(&execution.dir).stdin(execution.told.try_clone()?);
    command.stdout(execution.output.try_clone()?).stderr(execution.output.try_clone()?);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map(Spawned)
}

impl Spawned {
    pub(super) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Waits until the process has ended and, where possible, keeps its id reserved.
    #[cfg(unix)]
    pub(super) fn wait(&mut self) {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let Some(pid) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) else { return };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(pid), options), Err(rustix::io::Errno::INTR)) {}
    }

    /// Waits until the process has ended.
    #[cfg(not(unix))]
    pub(super) fn wait(&mut self) {
        drop(self.0.wait());
    }

    /// Returns the exit status and frees the process id.
    pub(super) fn reap(&mut self) -> io::Result<ExitStatus> {
        self.0.wait()
    }
}
