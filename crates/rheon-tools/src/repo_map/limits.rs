//! How much of a repository the map looks at.

use std::time::Duration;

/// How much of a repository the map looks at. What lies beyond is left out, and the report of the update says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepoMapLimits {
    /// How many files are mapped.
    pub files_max: usize,
    /// How many names in folders are looked at, whatever they stand for.
    pub entries_max: usize,
    /// How large a file may be. Larger ones are rarely written by people.
    pub file_bytes_max: u64,
    /// How many definitions and references are kept of all files together.
    pub tags_max: usize,
    /// How often the parser may report progress on one file before it gives up. Ordinary files take a few hundred steps.
    pub parse_steps_max: usize,
    /// How long the parser may take for one file. Ordinary files take milliseconds; there are texts that make each step slower
    /// than the one before.
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
