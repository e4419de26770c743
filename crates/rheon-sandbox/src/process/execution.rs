//! `Execution`: the program that a process becomes, with arguments, environment, directory and pipes. `View`: the file
//! system it sees. `ProcessSetup`: what the kernel sets up first.

use std::ffi::OsString;
use std::io::{PipeReader, PipeWriter};
use std::path::PathBuf;

use super::restrict::Restrictions;

pub(super) struct Execution {
    /// Looked up in the process's own `PATH` if it has no directory.
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
    pub(super) variables: Vec<(OsString, OsString)>,
    pub(super) dir: PathBuf,
    /// The file system it sees, if it gets its own.
    pub(super) view: Option<View>,
    /// Dropped right before it becomes the program.
    pub(super) restrictions: Option<Restrictions>,
    pub(super) limits: ResourceLimits,
    /// Standard input, which is the writing end of a pipe.
    pub(super) told: PipeWriter,
    /// Standard output, and standard error unless it has a pipe of its own.
    pub(super) output: PipeWriter,
    /// Pipes of a line that reads input, if it does.
    pub(super) exchange: Option<ExchangePipes>,
}

/// What a line reads, and where it writes errors.
pub(super) struct ExchangePipes {
    /// The shell finds it as file 3 and makes it the standard input of the line.
    pub(super) input: PipeReader,
    pub(super) errors: PipeWriter,
}

/// What a command may use of the machine. `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResourceLimits {
    /// Processes and threads of one command.
    pub processes: Option<u64>,
    /// Memory of each process, without what it shares.
    pub memory_bytes: Option<u64>,
    /// The size of each file that it writes.
    pub file_bytes: Option<u64>,
}

/// How one path appears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathView {
    /// An empty directory.
    Empty,
    /// A file that cannot be read.
    Absent,
    /// The content of this other path, which may be the same, read-only.
    ReadOnly(PathBuf),
    /// What is there, read-only, if anything is there. A symlink stays one and cannot be replaced.
    Guarded,
    /// The content of this other path, writable.
    Writable(PathBuf),
}

/// The mounts on top of the machine's file system, which is read-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// In mount order: later ones cover earlier ones.
    pub places: Vec<(PathBuf, PathView)>,
}

/// The namespaces to create for the process, without another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namespaces {
    Inherited,
    /// PID and IPC. Requires root.
    Processes,
    /// The same with a matching `/proc`.
    ProcessesShown,
    /// PID and IPC, within a user namespace that keeps the user's id.
    UserProcesses,
    /// All of them, with its own view of the file system.
    All,
    /// All but the network namespace.
    AllButNetwork,
}

/// What happens to root's capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capabilities {
    Preserved,
    /// No program that the process becomes or starts gets any.
    Dropped,
}

/// What a process gets before it becomes another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessSetup {
    pub namespaces: Namespaces,
    pub capabilities: Capabilities,
}

impl ProcessSetup {
    /// The minimum for every tool process.
    pub const PLAIN: Self = Self { namespaces: Namespaces::Inherited, capabilities: Capabilities::Preserved };
}
