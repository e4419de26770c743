//! `Level`: how strongly a process is sandboxed. `Requirement`: the level that the caller requires.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How strongly a process is sandboxed, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    None,
    /// Landlock allows writes only in the workspace; seccomp blocks the network.
    Landlock,
    /// Namespaces, created by Rheon or bubblewrap, isolate files, processes and the network; seccomp in addition.
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

/// The required level. Defaults to at least Landlock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    AtLeast(Level),
    /// Run without a sandbox, by explicit choice.
    NoSandbox,
}

impl Default for Requirement {
    fn default() -> Self {
        Self::AtLeast(Level::Landlock)
    }
}

impl Requirement {
    pub fn lowest(self) -> Level {
        match self {
            Self::AtLeast(lowest) => lowest,
            Self::NoSandbox => Level::None,
        }
    }

    /// The acceptable levels, strongest first.
    pub(super) fn levels(self) -> impl Iterator<Item = Level> {
        let levels: &[Level] = match self {
            Self::AtLeast(_) => &[Level::Namespaces, Level::Landlock],
            Self::NoSandbox => &[Level::None],
        };
        levels.iter().copied().filter(move |level| *level >= self.lowest())
    }
}
