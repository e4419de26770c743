//! `RepoMapLimits`: how much of a repository the map covers.

use std::time::Duration;

/// How much of a repository the map covers. The update report says if something was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepoMapLimits {
    pub files_max: usize,
    /// The most directory entries that are visited.
    pub entries_max: usize,
    /// The largest file. Larger ones are rarely written by people.
    pub file_bytes_max: u64,
    /// The most definitions and references of all files together.
    pub tags_max: usize,
    /// The most progress steps of the parser for one file. Ordinary files take a few hundred.
    pub parse_steps_max: usize,
    /// The most time for one file. Ordinary files take milliseconds, but some inputs make each step slower than the one
    /// before.
    pub parse_time_max: Duration,
}

impl Default for RepoMapLimits {
    fn default() -> Self {
        Self {
            files_max: 20_000,
            entries_max: 200_000,
            file_bytes_max: 512 * 1024,
            tags_max: 1_000_000,
            parse_steps_max: 10_000,
            parse_time_max: Duration::from_secs(3),
        }
    }
}
