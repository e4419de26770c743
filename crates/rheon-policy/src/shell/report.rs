//! Collects the results of a shell analysis, up to a limit.

use super::types::{Analysis, Redirection, SimpleCommand};

/// Commands, and redirections, to record. A line with more is unknown.
pub(super) const FOUND_MAX: usize = 1_000;

/// The reason for a function that calls itself forever.
pub(super) const CALLS_ITSELF: &str = "a function that calls itself";

#[derive(Debug, Default)]
pub(super) struct Report {
    pub analysis: Analysis,
    /// Positions of commands in the text, for the cross-check.
    pub starts: Vec<usize>,
    /// Positions at which the second parser may wrongly see or miss a command.
    pub excused: Vec<usize>,
    /// Whether there is more than simple commands, so that a cross-check is worth its time.
    pub intricate: bool,
}

/// A point in the report.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    commands: usize,
    redirections: usize,
}

impl Report {
    pub(super) fn unknown(&mut self, reason: &str) {
        if !self.analysis.unknown.iter().any(|known| known == reason) {
            self.analysis.unknown.push(reason.into());
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.analysis.commands.len() >= FOUND_MAX || self.analysis.redirections.len() >= FOUND_MAX
    }

    pub(super) fn command(&mut self, command: SimpleCommand) {
        if self.is_full() {
            self.unknown("too many commands");
        } else {
            self.analysis.commands.push(command);
        }
    }

    pub(super) fn redirection(&mut self, redirection: Redirection) {
        if self.is_full() {
            self.unknown("too many commands");
        } else {
            self.analysis.redirections.push(redirection);
        }
    }

    pub(super) fn starts_at(&mut self, at: usize) {
        self.starts.push(at);
    }

    pub(super) fn excuse(&mut self, at: usize) {
        self.excused.push(at);
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { commands: self.analysis.commands.len(), redirections: self.analysis.redirections.len() }
    }

    /// Whether a command of this name was recorded since `mark`.
    pub(super) fn ran_since(&self, mark: Mark, name: Option<&str>) -> bool {
        let mut commands = self.analysis.commands.iter().skip(mark.commands);
        name.is_some() && commands.any(|command| command.words.first().and_then(Option::as_deref) == name)
    }

    /// Whether a command that may change the directory was recorded since `mark`.
    pub(super) fn moved_since(&self, mark: Mark) -> bool {
        let moves = |name: &str| matches!(name, "cd" | "pushd" | "popd" | "eval" | "source" | ".");
        let mut commands = self.analysis.commands.iter().skip(mark.commands);
        commands.any(|command| command.words.first().is_some_and(|name| name.as_deref().is_none_or(moves)))
    }

    pub(super) fn forget_folders_from(&mut self, mark: Mark) {
        self.analysis.commands.iter_mut().skip(mark.commands).for_each(|command| command.folder = None);
        self.analysis.redirections.iter_mut().skip(mark.redirections).for_each(|file| file.folder = None);
    }
}
