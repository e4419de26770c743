//! `ContextSource`: the sources of the system prompt, their cache bands and size limits, and which are turned off.

use std::fmt;
use std::str::FromStr;

use rheon_agent::Band;

use super::rules::RULE_BYTES_MAX;

/// A source of the system prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContextSource {
    /// The base instructions.
    Base,
    /// The instructions of the user and of the project.
    Rules,
    /// Notes on tools besides their descriptions.
    ToolNotes,
    Skills,
    Memory,
    Learnings,
    CodeMap,
    /// The machine, the directory, the day, the repository.
    Environment,
    Effort,
}

/// One row of the table of sources.
pub(super) struct Row {
    pub(super) source: ContextSource,
    /// What it is called in reports and settings.
    pub(super) name: &'static str,
    pub(super) band: Band,
    pub(super) bytes_max: usize,
}

const fn row(source: ContextSource, name: &'static str, band: Band, bytes_max: usize) -> Row {
    Row { source, name, band, bytes_max }
}

/// All sources in the order of the prompt.
pub(super) const ROWS: [Row; 9] = [
    row(ContextSource::Base, "base", Band::Static, 64 << 10),
    // The user's, the project's, and what names the files.
    row(ContextSource::Rules, "rules", Band::Static, 3 * RULE_BYTES_MAX),
    row(ContextSource::ToolNotes, "tool-notes", Band::Static, 16 << 10),
    row(ContextSource::Skills, "skills", Band::Static, 66 << 10),
    row(ContextSource::Memory, "memory", Band::SemiStatic, 16 << 10),
    row(ContextSource::Learnings, "learnings", Band::SemiStatic, 4 << 10),
    row(ContextSource::CodeMap, "code-map", Band::SemiStatic, 64 << 10),
    row(ContextSource::Environment, "environment", Band::Dynamic, 4 << 10),
    row(ContextSource::Effort, "effort", Band::Dynamic, 4 << 10),
];

impl ContextSource {
    /// All of them, in the order of the prompt.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.source)
    }

    /// Its name, as users write it.
    pub fn as_str(self) -> &'static str {
        ROWS.iter().find(|row| row.source == self).map_or("", |row| row.name)
    }
}

impl fmt::Display for ContextSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ContextSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = text.trim();
        let found = ROWS.iter().find(|row| row.name.eq_ignore_ascii_case(wanted));
        found.map(|row| row.source).ok_or_else(|| {
            let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
            let shown: String = wanted.chars().take(40).collect();
            format!("unknown context source {shown:?}: use one of {}", names.join(", "))
        })
    }
}

/// Which sources count. All of them unless something is turned off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextSources {
    off: Vec<ContextSource>,
    /// Whether the model is reminded of the goal and of what keeps failing.
    pub reminders: Reminders,
}

/// Whether the model is reminded at the end of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reminders {
    #[default]
    On,
    Off,
}

impl ContextSources {
    /// The same without `source`.
    #[must_use]
    pub fn without(mut self, source: ContextSource) -> Self {
        if !self.off.contains(&source) {
            self.off.push(source);
        }
        self
    }

    #[must_use]
    pub fn without_reminders(mut self) -> Self {
        self.reminders = Reminders::Off;
        self
    }

    /// Whether `source` counts.
    pub fn has(&self, source: ContextSource) -> bool {
        !self.off.contains(&source)
    }
}
