//! `CommandWarning`: problems with command files.

use std::fmt;
use std::path::PathBuf;

use rheon_policy::DisplayPath;

use crate::commands::command::{COMMANDS_MAX, DEPTH_MAX};
use crate::markdown::{FileProblem, NAME_CHARACTERS_MAX};

/// A problem with a command or a directory of commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandWarning {
    pub path: PathBuf,
    pub problem: CommandProblem,
}

/// What is wrong with a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandProblem {
    #[error("invalid frontmatter, read with its values in quotes: {0}")]
    UnquotedYaml(String),
    #[error("invalid frontmatter, ignored: {0}")]
    InvalidYaml(String),
    #[error("its frontmatter has no closing `---` line; reading all of it as text")]
    UnclosedFrontmatter,
    #[error("`subtask` is neither true nor false; using false")]
    InvalidSubtask,
    #[error("invalid name: use 1 to {NAME_CHARACTERS_MAX} visible characters without spaces and colons")]
    InvalidName,
    #[error("it is empty")]
    Empty,
    #[error(transparent)]
    File(#[from] FileProblem),
    /// Not followed, because it might form a cycle.
    #[error("links to directories are not followed")]
    LinkedDir,
    #[error("nested more than {DEPTH_MAX} directories deep")]
    TooDeep,
    #[error("overridden by another command named {name:?}: {}", DisplayPath(.by.as_os_str()))]
    Overridden { name: String, by: PathBuf },
    #[error("more than {COMMANDS_MAX} commands; the rest are ignored")]
    TooMany,
    #[error("it changed since it was loaded; review it and load the commands again")]
    Changed,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot use command {name:?}: {problem}")]
pub struct CommandError {
    pub name: String,
    pub problem: CommandProblem,
}

impl CommandProblem {
    fn is_used(&self) -> bool {
        match self {
            Self::UnquotedYaml(_)
            | Self::InvalidYaml(_)
            | Self::UnclosedFrontmatter
            | Self::InvalidSubtask => true,
            Self::InvalidName
            | Self::Empty
            | Self::File(_)
            | Self::LinkedDir
            | Self::TooDeep
            | Self::Overridden { .. }
            | Self::TooMany
            | Self::Changed => false,
        }
    }
}

impl fmt::Display for CommandWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = if self.problem.is_used() { "loaded with a warning" } else { "skipped" };
        write!(f, "command {} is {outcome}: {}", DisplayPath(self.path.as_os_str()), self.problem)
    }
}
