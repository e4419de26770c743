//! `View`: how files look to a process that has a view of its own.

use std::path::PathBuf;

/// How one path looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
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
    pub places: Vec<(PathBuf, Shown)>,
}
