//! `CustomCommand`: the metadata of one slash command, without its text.

use std::ffi::OsStr;
use std::path::PathBuf;

use crate::markdown::FileOrigin;

/// The most commands in a session.
pub const COMMANDS_MAX: usize = 1_000;

/// The largest command file.
pub const COMMAND_BYTES_MAX: u64 = 64 * 1024;

/// How deep directories may nest.
pub(super) const DEPTH_MAX: usize = 5;

/// Whether `$1` is the first or the second argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbering {
    /// `$1` is the first argument.
    FromOne,
    /// `$0` is the first argument, as in files for Claude Code.
    FromZero,
}

/// A directory in which each markdown file is a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandDir {
    pub path: PathBuf,
    pub origin: FileOrigin,
    pub numbering: Numbering,
}

impl CommandDir {
    /// The directory at `path`. Files in a `.claude` directory were written for Claude Code and use its numbering.
    pub fn new(path: impl Into<PathBuf>, origin: FileOrigin) -> Self {
        let path = path.into();
        let is_claude = path.parent().and_then(|parent| parent.file_name()) == Some(OsStr::new(".claude"));
        let numbering = if is_claude { Numbering::FromZero } else { Numbering::FromOne };
        Self { path, origin, numbering }
    }
}

/// The metadata of one command, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomCommand {
    /// The name without the slash. Directory names come first, separated by colons.
    pub name: String,
    pub info: CommandInfo,
    pub origin: FileOrigin,
    pub numbering: Numbering,
    /// The canonical path.
    pub file: PathBuf,
    /// The canonical directory it was found in. Nothing outside it is read.
    pub(super) root: PathBuf,
    /// The hash of the file when it was found, to check whether the user trusts it.
    pub digest: [u8; 32],
}

/// The frontmatter of a command. It only makes requests: the gate decides what a command may do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandInfo {
    /// What it does, or the first line of its text.
    pub description: String,
    /// The arguments to type after the name.
    pub argument_hint: Option<String>,
    pub model: Option<String>,
    pub agent: Option<String>,
    pub is_subtask: bool,
    /// Rules for tools it asks to allow while it runs.
    pub allowed_tools: Vec<String>,
}
