//! What was odd about a command.

use std::fmt;
use std::path::PathBuf;

use rheon_policy::DisplayPath;

use crate::commands::command::{COMMANDS_MAX, DEPTH_MAX};
use crate::markdown::{FileProblem, NAME_CHARACTERS_MAX};

/// Something odd about one command, or about a folder of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandWarning {
    /// The file or folder.
    pub path: PathBuf,
    /// What is odd.
    pub problem: CommandProblem,
}

/// What can be odd.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandProblem {
    /// The YAML could be read only with its values in quotes.
    #[error("its frontmatter could be read only with its values in quotes: {0}")]
    Mended(String),
    /// The frontmatter cannot be read; the text can.
    #[error("its frontmatter is passed over, because it cannot be read: {0}")]
    Unreadable(String),
    /// The frontmatter does not end.
    #[error("its frontmatter has no second line `---`, so that all of it is taken for text")]
    Unclosed,
    /// `subtask` is neither true nor false.
    #[error("`subtask` is neither true nor false; it is taken for false")]
    SubtaskOdd,
    /// Nobody could type its name.
    #[error(
        "its name cannot be typed: 1 to {NAME_CHARACTERS_MAX} visible characters without spaces and colons are needed"
    )]
    NameUnusable,
    /// It says nothing.
    #[error("it has no text")]
    Empty,
    /// The file or the folder cannot be read.
    #[error(transparent)]
    File(#[from] FileProblem),
    /// A folder that is a link; it might lead in a circle.
    #[error("it is a link to a folder, which is not followed")]
    LinkedFolder,
    /// A folder lies too deep.
    #[error("it lies more than {DEPTH_MAX} folders deep")]
    TooDeep,
    /// Another command of the same name overrides it.
    #[error("another command is called {name:?} too, and overrides it: {}", DisplayPath(.by.as_os_str()))]
    Overridden {
        /// The name.
        name: String,
        /// The file of the command that is used.
        by: PathBuf,
    },
    /// There are too many commands.
    #[error("there are more than {COMMANDS_MAX} commands; the rest is left out")]
    TooMany,
    /// The file is not what it was when it was found.
    #[error("it changed since it was found; look at it and load the commands again")]
    Changed,
}

/// Why a command cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the command {name:?} cannot be used: {problem}")]
pub struct CommandError {
    /// The command.
    pub name: String,
    /// What is wrong with it.
    pub problem: CommandProblem,
}

impl CommandProblem {
    fn is_used(&self) -> bool {
        match self {
            Self::Mended(_) | Self::Unreadable(_) | Self::Unclosed | Self::SubtaskOdd => true,
            Self::NameUnusable
            | Self::Empty
            | Self::File(_)
            | Self::LinkedFolder
            | Self::TooDeep
            | Self::Overridden { .. }
            | Self::TooMany
            | Self::Changed => false,
        }
    }
}

impl fmt::Display for CommandWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = if self.problem.is_used() { "used all the same" } else { "left out" };
        write!(f, "command {} is {outcome}: {}", DisplayPath(self.path.as_os_str()), self.problem)
    }
}
