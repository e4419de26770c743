//! `Execution`: the program that a process becomes, with its arguments, variables, folder and pipes.

use std::ffi::OsString;
use std::io::PipeWriter;
use std::path::PathBuf;

use super::view::View;

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
