//! `CustomCommand`: one command, as far as it is known without its text.

use std::ffi::OsStr;
use std::path::PathBuf;

use crate::markdown::FileOrigin;

/// How many commands there may be.
pub const COMMANDS_MAX: usize = 1_000;

/// How large the file of a command may be.
pub const COMMAND_BYTES_MAX: u64 = 64 * 1024;

/// How deep folders may lie in each other.
pub(super) const DEPTH_MAX: usize = 5;

/// How `$1` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbering {
    /// `$1` is the first argument.
    FromOne,
    /// `$0` is the first argument, as in files for Claude Code.
    FromZero,
}

/// A folder in which each markdown file is a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandDir {
    /// Where it is.
    pub path: PathBuf,
    /// Whose it is.
    pub origin: FileOrigin,
    /// How its files count arguments.
    pub numbering: Numbering,
}

impl CommandDir {
    /// The folder at `path`. Files in a folder `.claude` were written for Claude Code and count as it does.
    pub fn new(path: impl Into<PathBuf>, origin: FileOrigin) -> Self {
        let path = path.into();
        let is_claude = path.parent().and_then(|parent| parent.file_name()) == Some(OsStr::new(".claude"));
        let numbering = if is_claude { Numbering::FromZero } else { Numbering::FromOne };
        Self { path, origin, numbering }
    }
}

/// One command, as far as it is known without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomCommand {
    /// What it is called by, without the slash; folders come before it, each with a colon.
    pub name: String,
    /// What the file says about itself.
    pub info: CommandInfo,
    /// Whose it is.
    pub origin: FileOrigin,
    /// How it counts arguments.
    pub numbering: Numbering,
    /// Its file, canonical.
    pub file: PathBuf,
    /// The folder it was found in, canonical; nothing is read outside it.
    pub(super) root: PathBuf,
    /// What the whole file was when it was found, for whoever keeps a record of what is trusted.
    pub digest: [u8; 32],
}

/// What a command says about itself. These are wishes: what a command may do is the gate's decision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandInfo {
    /// What it does; the first line of its text where it does not say.
    pub description: String,
    /// What to type behind it.
    pub argument_hint: Option<String>,
    /// The model to use.
    pub model: Option<String>,
    /// The agent to use.
    pub agent: Option<String>,
    /// Whether it runs as a sub-agent.
    pub is_subtask: bool,
    /// Rules for tools that it would like to have allowed while it runs.
    pub allowed_tools: Vec<String>,
}
