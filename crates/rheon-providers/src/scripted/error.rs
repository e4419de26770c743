//! `ScenarioError`: what is wrong with a scenario, where, and how to fix it.

use std::fmt;
use std::path::{Path, PathBuf};

/// The maximum size of a scenario.
pub const SCENARIO_BYTES_MAX: usize = 4 * 1024 * 1024;

/// An invalid or unreadable scenario.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", title(Some(path)))]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file extension is unknown.
    #[error("{}: the format is unknown; name the file .toml or .json", title(Some(path)))]
    Format {
        /// The file.
        path: PathBuf,
    },
    /// The text is too large.
    #[error("{}: larger than {SCENARIO_BYTES_MAX} bytes; split it", title(path.as_deref()))]
    TooLarge {
        /// The file, if there is one.
        path: Option<PathBuf>,
    },
    /// Invalid TOML or JSON.
    #[error("{position}: not {format}: {problem}")]
    Syntax {
        /// The position in the text.
        position: ScenarioPosition,
        /// `TOML` or `JSON`.
        format: &'static str,
        /// The parser's message.
        problem: String,
    },
    /// Not a valid scenario.
    #[error("{position}: {key}: {problem}")]
    Invalid {
        /// The position in the text.
        position: ScenarioPosition,
        /// The key, for instance `turns[0].steps[1].ms`; `scenario` for the root.
        key: String,
        /// What is wrong, and how to fix it.
        problem: String,
    },
}

/// A position in the text of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioPosition {
    /// The file, if there is one.
    pub path: Option<PathBuf>,
    /// The line, starting at 1.
    pub line: usize,
    /// The column in characters, starting at 1.
    pub column: usize,
}

impl fmt::Display for ScenarioPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: line {}, column {}", title(self.path.as_deref()), self.line, self.column)
    }
}

impl ScenarioError {
    /// Adds the file name to the error.
    pub(super) fn in_file(mut self, file: &Path) -> Self {
        match &mut self {
            Self::Read { path, .. } | Self::Format { path } => *path = file.to_owned(),
            Self::TooLarge { path }
            | Self::Syntax { position: ScenarioPosition { path, .. }, .. }
            | Self::Invalid { position: ScenarioPosition { path, .. }, .. } => *path = Some(file.to_owned()),
        }
        self
    }
}

fn title(path: Option<&Path>) -> String {
    path.map_or_else(|| "scenario".to_owned(), |path| format!("scenario {}", path.display()))
}
