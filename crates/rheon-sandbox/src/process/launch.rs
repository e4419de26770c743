//! `Launcher`: turns a line of bash into a process. A dedicated thread starts and awaits it. It lives as long as the
//! process, because the kernel treats the end of the starting thread as the end of the parent.

use std::any::Any;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter};
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::environment::ProcessEnvironment;
use super::execution::{ExchangePipes, Execution, ProcessSetup, ResourceLimits, View};
use super::helper::{HelperNetwork, SessionHelper};
use super::restrict::Restrictions;
use super::spawn::{Supervision, spawn};
use super::tree::{KillOnDrop, ProcessTree, Tree};

#[derive(Debug, Clone)]
pub struct ShellLine {
    /// Any number of lines.
    pub text: String,
    /// The working directory.
    pub dir: PathBuf,
    /// The whole environment.
    pub environment: ProcessEnvironment,
}

/// What confines the processes of one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Containment {
    /// A PID namespace: the kernel ends all processes with the first one.
    Namespace,
    /// A supervisor: a process that adopts orphans, and ends everything when the first process or the agent ends. An
    /// environment variable marks the processes in case one of them kills the supervisor. On systems other than Linux
    /// there is only a process group and the variable.
    Supervisor,
}

/// How to turn a line of bash into a process.
pub struct Launcher {
    /// The program and its arguments before bash.
    pub prefix: Vec<OsString>,
    pub bash: PathBuf,
    /// Environment variables that the launcher adds.
    pub variables: Vec<(String, String)>,
    pub setup: ProcessSetup,
    /// The file system the process sees, if it gets all namespaces.
    pub view: Option<View>,
    pub containment: Containment,
    /// Rights that the process drops.
    pub restrictions: Option<Restrictions>,
    pub limits: ResourceLimits,
    /// The helper of the session that starts the process. Without one the agent starts it.
    pub helper: Option<HelperRoute>,
    /// Lives as long as the process.
    pub guard: Option<Box<dyn ProcessGuard>>,
}

/// The helper of the session that starts a process, and the network it has there.
#[derive(Debug, Clone)]
pub struct HelperRoute {
    pub helper: Arc<SessionHelper>,
    pub network: HelperNetwork,
}

/// Something that must live as long as a process.
pub trait ProcessGuard: Send {
    /// Called before the end of the process is reported. The returned value is dropped afterwards.
    fn release(self: Box<Self>) -> Box<dyn Any + Send>;
}

#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    #[error(
        "the command has {bytes} bytes, but at most {bytes_max} are possible; write it to a file and run that"
    )]
    TooLong { bytes: usize, bytes_max: usize },
    #[error("the command contains a NUL byte; remove it")]
    ZeroByte,
    #[error("cannot start {program}: {source}")]
    Start { program: String, source: io::Error },
    /// The launcher program exited without starting the shell.
    #[error("{program} did not start the command")]
    NotBegun {
        /// What was started.
        program: String,
    },
    /// The thread that waited is gone.
    #[error("lost track of the command before it ended")]
    Lost,
}

/// The longest line: one argument of a program has at most 128 KiB on Linux, quotes included.
const LINE_BYTES_MAX: usize = 100_000;

/// A line that was started. It is ended with all that it started when this is dropped.
pub struct Process {
    pub(super) process_tree: KillOnDrop,
    pub(super) output: PipeReader,
    /// Where bash tells the directory in which it ended.
    pub(super) dir: PipeReader,
    pub(super) exit: oneshot::Receiver<Result<ExitStatus, ProcessError>>,
    pub(super) began: Instant,
    /// What was started.
    pub(super) program: String,
}

impl Process {
    /// Ends it from elsewhere.
    pub fn process_tree(&self) -> ProcessTree {
        self.process_tree.0.clone()
    }
}

/// Starts a line without input. Its errors are part of its output.
pub fn start(line: &ShellLine, launcher: Launcher) -> Result<Process, ProcessError> {
    start_with(line, launcher, None)
}

/// A line with its own standard input and standard error.
pub(super) struct PipedProcess {
    pub(super) process: Process,
    pub(super) input: PipeWriter,
    pub(super) errors: PipeReader,
}

/// Starts a line that reads input.
pub(super) fn start_piped(line: &ShellLine, launcher: Launcher) -> Result<PipedProcess, ProcessError> {
    let failed = |source| ProcessError::Start { program: "the pipe".into(), source };
    let (input_end, input) = io::pipe().map_err(failed)?;
    let (errors, errors_end) = io::pipe().map_err(failed)?;
    let pipes = ExchangePipes { input: input_end, errors: errors_end };
    let process = start_with(line, launcher, Some(pipes))?;
    Ok(PipedProcess { process, input, errors })
}

fn start_with(
    line: &ShellLine,
    launcher: Launcher,
    exchange: Option<ExchangePipes>,
) -> Result<Process, ProcessError> {
    if line.text.len() > LINE_BYTES_MAX {
        return Err(ProcessError::TooLong { bytes: line.text.len(), bytes_max: LINE_BYTES_MAX });
    }
    if line.text.contains('\0') {
        return Err(ProcessError::ZeroByte);
    }
    let program = launcher.prefix.first().cloned().unwrap_or_else(|| launcher.bash.clone().into());
    let program = program.to_string_lossy().into_owned();
    let failed = |source| ProcessError::Start { program: program.clone(), source };
    let (output, output_end) = io::pipe().map_err(failed)?;
    let (dir, dir_end) = io::pipe().map_err(failed)?;
    let marker = match launcher.containment {
        Containment::Namespace => None,
        Containment::Supervisor => Some(next_marker()),
    };
    let pipes = LinePipes { told: dir_end, output: output_end, exchange };
    let execution = execution(line, &launcher, marker.as_deref(), pipes);
    let (supervision, lifeline) = match launcher.containment {
        Containment::Namespace => (Supervision::Absent, None),
        Containment::Supervisor => Supervision::present().map_err(failed)?,
    };
    let tree = Arc::new(Tree::new(marker.map(|value| format!("{MARKER}={value}")), lifeline));
    let (exit_sender, exit) = oneshot::channel();
    let began = Instant::now();
    let thread_tree = Arc::clone(&tree);
    std::thread::Builder::new()
        .name("rheon-process".into())
        .stack_size(256 * 1024)
        .spawn(move || {
            let result = run_to_end(execution, &launcher, &supervision, &thread_tree);
            let remains = launcher.guard.map(ProcessGuard::release);
            // The receiver is gone if the caller gave up; the process tree has been killed then.
            drop(exit_sender.send(result));
            drop(remains);
        })
        .map_err(failed)?;
    Ok(Process { process_tree: KillOnDrop(ProcessTree(tree)), output, dir, exit, began, program })
}

/// The variable that tells the processes of one command from others.
pub const MARKER: &str = "RHEON_COMMAND";

/// A value for it that differs between all commands of all agents on the machine.
pub fn next_marker() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn execution(line: &ShellLine, launcher: &Launcher, marker: Option<&str>, pipes: LinePipes) -> Execution {
    let LinePipes { told, output, exchange } = pipes;
    let mut words = launcher.prefix.iter().cloned().chain([launcher.bash.clone().into()]);
    let program = words.next().unwrap_or_default().into();
    let input = if exchange.is_some() { "<&3 3<&-" } else { "</dev/null" };
    let script = ["--noprofile".into(), "--norc".into(), "-c".into(), script(&line.text, input).into()];
    let own = launcher.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let own = own.chain(marker.map(|value| (MARKER, value)));
    let mut variables: BTreeMap<OsString, OsString> =
        line.environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
    variables.extend(own.map(|(name, value)| (name.into(), value.into())));
    Execution {
        program,
        arguments: words.chain(script).collect(),
        variables: variables.into_iter().collect(),
        dir: line.dir.clone(),
        view: launcher.view.clone(),
        restrictions: launcher.restrictions.clone(),
        limits: launcher.limits,
        told,
        output,
        exchange,
    }
}

/// The writing ends that a line gets, and what it reads.
struct LinePipes {
    told: PipeWriter,
    output: PipeWriter,
    exchange: Option<ExchangePipes>,
}

/// Runs the line with its input, or with nothing to read. While `eval` runs, bash keeps its own standard input, which is the writing end
/// of a pipe, aside and closed to programs: only the shell itself can tell that it began, and the directory in which it ended.
/// A signal that ends it during `eval` leaves it without that pipe; then it tells nothing.
fn script(line: &str, input: &str) -> String {
    let line = line.replace('\'', r"'\''");
    format!(
        "builtin printf '\\0' >&0\ntrap '{{ builtin printf \"\\0\" >&0; builtin pwd -P >&0; }} 2>/dev/null' EXIT\neval '{line}' {input}"
    )
}

fn run_to_end(
    execution: Execution,
    launcher: &Launcher,
    supervision: &Supervision,
    tree: &Tree,
) -> Result<ExitStatus, ProcessError> {
    let program = execution.program.to_string_lossy().into_owned();
    let failed = |source| ProcessError::Start { program: program.clone(), source };
    if let Some(HelperRoute { helper, network }) = &launcher.helper {
        let command = helper.start(execution, *network).map_err(failed)?;
        tree.started_by_helper(command.kill_handle());
        let status = command.wait();
        return tree
            .reap(|| Ok(status))
            .map_err(|source| ProcessError::Start { program: "the command".into(), source });
    }
    let spawned = spawn(&execution, launcher.setup, supervision);
    // It holds the writing ends of the pipes, which would never close.
    drop(execution);
    let mut process = match spawned {
        Ok(process) => process,
        Err(source) => return Err(failed(source)),
    };
    tree.started(process.id());
    process.wait();
    tree.reap(|| process.reap()).map_err(failed)
}
