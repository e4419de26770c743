//! What was odd about a note.

use std::fmt;
use std::path::PathBuf;

use rheon_policy::DisplayPath;

use crate::markdown::FileProblem;
use crate::notes::note::NOTES_MAX;

/// Something odd about one note, or about a folder of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteWarning {
    /// The file or folder.
    pub path: PathBuf,
    /// What is odd.
    pub problem: NoteProblem,
}

/// What can be odd.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteProblem {
    /// The YAML could be read only with its values in quotes.
    #[error("its frontmatter could be read only with its values in quotes: {0}")]
    Mended(String),
    /// The frontmatter cannot be read; the text can.
    #[error("its frontmatter is passed over, because it cannot be read: {0}")]
    Unreadable(String),
    /// `kind` is neither of both.
    #[error("its kind is neither `semantic` nor `episodic`; it is taken for semantic")]
    KindOdd,
    /// The name in it is not that of the file.
    #[error("its name is {name:?}, but it is called {file:?} like its file")]
    NameDiffers {
        /// The name in it.
        name: String,
        /// The name of the file.
        file: String,
    },
    /// The name of the file cannot be shown.
    #[error("the name of its file cannot be used")]
    NameUnusable,
    /// The file or the folder cannot be read.
    #[error(transparent)]
    File(#[from] FileProblem),
    /// There are too many notes.
    #[error("there are more than {NOTES_MAX} notes in it; the rest is left out")]
    TooMany,
}

impl NoteProblem {
    fn is_used(&self) -> bool {
        match self {
            Self::Mended(_) | Self::Unreadable(_) | Self::KindOdd | Self::NameDiffers { .. } => true,
            Self::NameUnusable | Self::File(_) | Self::TooMany => false,
        }
    }
}

impl fmt::Display for NoteWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = if self.problem.is_used() { "used all the same" } else { "left out" };
        write!(f, "note {} is {outcome}: {}", DisplayPath(self.path.as_os_str()), self.problem)
    }
}
