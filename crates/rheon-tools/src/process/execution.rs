//! `Execution`: the program that a process becomes, with its arguments, variables, folder and pipes.

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
    /// Its standard input, which is the writing end of a pipe.
    pub(super) told: PipeWriter,
    /// Its standard output and its standard error.
    pub(super) output: PipeWriter,
}
