//! `Level`: the rungs of the ladder; `Requirement`: which of them the caller insists on.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How far a process is held, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Not at all.
    None,
    /// Landlock: writes only in the workspace; seccomp: no network.
    Landlock,
    /// Namespaces, made by ourselves or by bubblewrap: its own view of files, processes and the network; seccomp besides.
    Namespaces,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Landlock => "landlock",
            Self::Namespaces => "namespaces",
        })
    }
}

/// What the caller insists on: Landlock at least, unless somebody said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// This level, or a higher one.
    AtLeast(Level),
    /// None at all, because somebody said so.
    NoSandbox,
}

impl Default for Requirement {
    fn default() -> Self {
        Self::AtLeast(Level::Landlock)
    }
}

impl Requirement {
    /// The lowest level that will do.
    pub fn lowest(self) -> Level {
        match self {
            Self::AtLeast(lowest) => lowest,
            Self::NoSandbox => Level::None,
        }
    }

    /// The levels that will do, highest first.
    pub(super) fn levels(self) -> impl Iterator<Item = Level> {
        let levels: &[Level] = match self {
            Self::AtLeast(_) => &[Level::Namespaces, Level::Landlock],
            Self::NoSandbox => &[Level::None],
        };
        levels.iter().copied().filter(move |level| *level >= self.lowest())
    }
}
