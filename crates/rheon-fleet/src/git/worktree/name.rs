//! `WorktreeName`: a name that can be that of a directory and part of that of a branch, everywhere.

use std::fmt;

use rheon_text::visible;
use rheon_types::SessionId;

/// The most characters of a name.
pub const NAME_CHARS_MAX: usize = 64;

/// The name of a worktree: letters, digits, `-`, `_` and `.`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorktreeName(String);

/// No worktree can have this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid worktree name \"{}\": {problem}; use at most {NAME_CHARS_MAX} letters, digits, \"-\", \"_\" and \".\"",
    shown(name)
)]
pub struct WorktreeNameError {
    name: String,
    problem: &'static str,
}

impl WorktreeName {
    /// The name, if it can be one.
    pub fn parse(name: &str) -> Result<Self, WorktreeNameError> {
        let is_usual = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
        let problem = if name.is_empty() {
            "it is empty"
        } else if name.chars().count() > NAME_CHARS_MAX {
            "it is too long"
        } else if !name.chars().all(is_usual) {
            "it has invalid characters"
        } else if name.starts_with(['.', '-']) {
            "it begins with \".\" or \"-\""
        } else if name.contains("..") || name.ends_with('.') {
            "branches cannot have \"..\" in them, nor \".\" at the end"
        } else if name.to_ascii_lowercase().ends_with(".lock") {
            "branches cannot end with \".lock\""
        } else {
            return Ok(Self(name.to_owned()));
        };
        Err(WorktreeNameError { name: name.to_owned(), problem })
    }

    /// The name for a session that has none of its own: the end of its id, as sessions that begin at the same time begin alike.
    pub fn of_session(session_id: &SessionId) -> Result<Self, WorktreeNameError> {
        let id = session_id.as_str();
        Self::parse(id.rsplit('-').next().unwrap_or(id))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its branch.
    pub fn branch(&self) -> String {
        format!("worktree-{}", self.0)
    }
}

impl fmt::Display for WorktreeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An invalid name, shortened to fit into a line.
fn shown(name: &str) -> String {
    let short: String = name.chars().take(NAME_CHARS_MAX).collect();
    let more = if short.len() < name.len() { "…" } else { "" };
    format!("{}{more}", visible(&short))
}

#[cfg(test)]
#[path = "name_tests.rs"]
mod tests;
