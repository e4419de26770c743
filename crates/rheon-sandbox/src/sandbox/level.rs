//! `Level`: the rungs of the ladder.

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
