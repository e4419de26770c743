//! `ConfigProblem`: one problem of a configuration and its location; `ConfigError`: all of them.

use std::fmt;

use super::origin::SettingOrigin;

/// A problem and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    pub origin: SettingOrigin,
    /// What, and what to do about it.
    pub what: String,
}

impl ConfigProblem {
    pub(super) fn new(origin: &SettingOrigin, what: impl Into<String>) -> Self {
        Self { origin: origin.clone(), what: what.into() }
    }
}

/// `PATH: line 12: what`.
impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.origin.line {
            Some(line) => write!(f, "{}: line {line}: {}", self.origin.source, self.what),
            None => write!(f, "{}: {}", self.origin.source, self.what),
        }
    }
}

/// An invalid configuration: all its problems, in the order of the layers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    /// At least one.
    pub problems: Vec<ConfigProblem>,
}

impl ConfigError {
    /// In the order of the layers, and of the lines of each file.
    pub(super) fn of(mut problems: Vec<ConfigProblem>) -> Self {
        problems.sort_by_cached_key(|it| (it.origin.layer, it.origin.source.to_string(), it.origin.line));
        Self { problems }
    }
}

/// The most problems that are shown.
const SHOWN_MAX: usize = 20;

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().take(SHOWN_MAX).enumerate() {
            let line_break = if index == 0 { "" } else { "\n" };
            write!(f, "{line_break}cannot read {problem}")?;
        }
        match self.problems.len().saturating_sub(SHOWN_MAX) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}
