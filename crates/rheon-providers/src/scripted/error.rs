//! `ScenarioError`: what is wrong with a scenario, where, and what to do about it.

use std::fmt;
use std::path::{Path, PathBuf};

/// The most bytes the text of a scenario may have.
pub const SCENARIO_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A scenario that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", title(Some(path)))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The name of the file does not tell its format.
    #[error("{}: the format is unknown; name the file .toml or .json", title(Some(path)))]
    Format {
        /// The file.
        path: PathBuf,
    },
    /// The text is too long.
    #[error("{}: larger than {SCENARIO_BYTES_MAX} bytes; split it", title(path.as_deref()))]
    TooLarge {
        /// The file, where there is one.
        path: Option<PathBuf>,
    },
    /// The text is not TOML or not JSON.
    #[error("{place}: not {format}: {problem}")]
    Syntax {
        /// Where.
        place: ScenarioPosition,
        /// `TOML` or `JSON`.
        format: &'static str,
        /// What the parser says.
        problem: String,
    },
    /// The text is no scenario.
    #[error("{place}: {key}: {problem}")]
    Invalid {
        /// Where.
        place: ScenarioPosition,
        /// The key, for instance `turns[0].steps[1].ms`; `scenario` for the whole.
        key: String,
        /// What is wrong with it, and what would be right.
        problem: String,
    },
}

/// A place in the text of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioPosition {
    /// The file, where there is one.
    pub path: Option<PathBuf>,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

impl fmt::Display for ScenarioPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: line {}, column {}", title(self.path.as_deref()), self.line, self.column)
    }
}

impl ScenarioError {
    /// The same error, which names the file.
    pub(super) fn in_file(mut self, file: &Path) -> Self {
        match &mut self {
            Self::Read { path, .. } | Self::Format { path } => *path = file.to_owned(),
            Self::TooLarge { path }
            | Self::Syntax { place: ScenarioPosition { path, .. }, .. }
            | Self::Invalid { place: ScenarioPosition { path, .. }, .. } => *path = Some(file.to_owned()),
        }
        self
    }
}

fn title(path: Option<&Path>) -> String {
    path.map_or_else(|| "scenario".to_owned(), |path| format!("scenario {}", path.display()))
}
