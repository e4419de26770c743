//! `NameReport`: what happened to a protected name that a command created.

use std::fmt;
use std::path::{Path, PathBuf};

use rheon_text::TextContext;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameReport {
    pub path: PathBuf,
    pub outcome: NameOutcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameOutcome {
    Moved {
        to: PathBuf,
    },
    /// It is a repository that stays; these hooks and settings of it were disabled.
    Disarmed {
        parts: Vec<PathBuf>,
    },
    /// It is part of a new repository.
    Left,
    NotMoved {
        problem: String,
    },
    /// There are too many directories to watch all of them.
    Unwatched {
        dirs_max: usize,
    },
}

impl fmt::Display for NameReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = shown(&self.path);
        match &self.outcome {
            NameOutcome::Moved { to } => write!(
                f,
                "{path} appeared while a command ran and was moved to {}: programs outside the sandbox run what such \
                 names contain. If the user created it, move it back",
                shown(to)
            ),
            NameOutcome::Disarmed { parts } => {
                let parts: Vec<String> = parts.iter().map(|part| shown(part)).collect();
                write!(
                    f,
                    "hooks and settings that run programs were disabled in {path}: {}",
                    parts.join(", ")
                )
            }
            NameOutcome::Left => write!(
                f,
                "{path} is part of a repository that a command created; look at it before you open that directory \
                 with other programs"
            ),
            NameOutcome::NotMoved { problem } => {
                write!(
                    f,
                    "{path} appeared while a command ran and could not be moved away ({problem}): remove it"
                )
            }
            NameOutcome::Unwatched { dirs_max } => write!(
                f,
                "{path} has more than {dirs_max} directories: in those that are left, a command can create names such \
                 as .git unnoticed"
            ),
        }
    }
}

/// A path on one line: commands choose the names.
fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    let shown = text.chars().flat_map(|c| {
        match TextContext::Line.forbids(c) {
            true => c.escape_default().to_string(),
            false => c.to_string(),
        }
        .chars()
        .collect::<Vec<_>>()
    });
    shown.collect()
}
