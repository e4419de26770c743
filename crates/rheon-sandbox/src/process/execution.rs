//! `Execution`: the program that a process becomes, with its arguments, variables, folder and pipes; `View`: how files look to
//! it; `ProcessSetup`: what it gets from the kernel before.

use std::ffi::OsString;
use std::io::PipeWriter;
use std::path::PathBuf;

/// What a process becomes.
pub(super) struct Execution {
    /// Looked for in the path of the process itself if it has no folder.
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
    pub(super) variables: Vec<(OsString, OsString)>,
    pub(super) folder: PathBuf,
    /// How files look to it, where it gets a view of its own.
    pub(super) view: Option<View>,
    /// Its standard input, which is the writing end of a pipe.
    pub(super) told: PipeWriter,
    /// Its standard output and its standard error.
    pub(super) output: PipeWriter,
}

/// How one path looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathView {
    /// A folder of its own, with nothing in it.
    Empty,
    /// A file that cannot be read.
    Absent,
    /// As it is, to be read only.
    ReadOnly,
    /// What is at this other path, to be written.
    Writable(PathBuf),
}

/// What is laid over the files of the machine, all of which are shown to be read only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Where, and what; each is laid over those before it.
    pub places: Vec<(PathBuf, PathView)>,
}

/// Namespaces that the process is the first of, without another program that would make them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namespaces {
    /// None.
    Inherited,
    /// Processes and their queues; needs to be root.
    Processes,
    /// The same with a `/proc` that shows them.
    ProcessesShown,
    /// Processes and their queues, within a user namespace in which the user remains who they are.
    UserProcesses,
    /// All there are, with a view of files of its own.
    All,
    /// The same, with the network of the machine.
    AllButNetwork,
}

/// What becomes of the rights that root has beyond others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capabilities {
    /// They are handed on.
    Kept,
    /// No program that the process becomes or starts gets any.
    Dropped,
}

/// What a process gets before it becomes another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessSetup {
    /// The namespaces.
    pub namespaces: Namespaces,
    /// The rights.
    pub capabilities: Capabilities,
}

impl ProcessSetup {
    /// Nothing but what every process of a tool gets.
    pub const PLAIN: Self = Self { namespaces: Namespaces::Inherited, capabilities: Capabilities::Kept };
}
