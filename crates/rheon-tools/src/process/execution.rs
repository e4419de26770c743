//! `Execution`: the program that a process becomes, with its arguments, variables, folder and pipes.

use std::ffi::{OsStr, OsString};
use std::io::PipeWriter;
use std::path::PathBuf;

/// What a process becomes.
pub(super) struct Execution {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
    pub(super) variables: Vec<(OsString, OsString)>,
    pub(super) folder: PathBuf,
    /// Its standard input, which is the writing end of a pipe.
    pub(super) told: PipeWriter,
    /// Its standard output and its standard error.
    pub(super) output: PipeWriter,
}

impl Execution {
    /// The program with its folder; looked for in the path of the process itself if it has none.
    pub(super) fn found_program(&self) -> PathBuf {
        if self.program.components().count() > 1 {
            return self.program.clone();
        }
        let path = self.variables.iter().rev().find(|(name, _)| name == "PATH");
        let folders = path.map(|(_, folders)| folders.as_os_str()).unwrap_or(OsStr::new("/usr/bin:/bin"));
        let found = std::env::split_paths(folders)
            .map(|folder| folder.join(&self.program))
            .find(|path| path.is_absolute() && path.is_file());
        found.unwrap_or_else(|| self.program.clone())
    }
}
