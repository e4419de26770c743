//! `NoteWarning`: problems with note files.

use std::fmt;
use std::path::PathBuf;

use rheon_policy::DisplayPath;

use crate::markdown::FileProblem;
use crate::notes::note::NOTES_MAX;

/// A problem with a note or a directory of notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteWarning {
    pub path: PathBuf,
    pub problem: NoteProblem,
}

/// What is wrong with a note.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteProblem {
    #[error("invalid frontmatter, read with its values in quotes: {0}")]
    UnquotedYaml(String),
    #[error("invalid frontmatter, ignored: {0}")]
    InvalidYaml(String),
    #[error("its kind is neither `semantic` nor `episodic`; using semantic")]
    InvalidKind,
    #[error("its name {name:?} differs from its file name; using {file:?}")]
    NameDiffers { name: String, file: String },
    #[error("invalid file name")]
    InvalidName,
    #[error(transparent)]
    File(#[from] FileProblem),
    #[error("more than {NOTES_MAX} notes; the rest are ignored")]
    TooMany,
}

impl NoteProblem {
    fn is_used(&self) -> bool {
        match self {
            Self::UnquotedYaml(_) | Self::InvalidYaml(_) | Self::InvalidKind | Self::NameDiffers { .. } => {
                true
            }
            Self::InvalidName | Self::File(_) | Self::TooMany => false,
        }
    }
}

impl fmt::Display for NoteWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = if self.problem.is_used() { "loaded with a warning" } else { "skipped" };
        write!(f, "note {} is {outcome}: {}", DisplayPath(self.path.as_os_str()), self.problem)
    }
}
