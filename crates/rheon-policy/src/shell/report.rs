//! What was found so far, within caps.

use super::types::{Analysis, Redirection, SimpleCommand};

/// Commands, and redirections, that are kept; a line with more is unknown.
pub(super) const FOUND_MAX: usize = 1_000;

/// The reason given for a function that runs itself without end.
pub(super) const CALLS_ITSELF: &str = "a function that calls itself";

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// The result.
    pub analysis: Analysis,
    /// Where commands start in the text, for the second reader.
    pub starts: Vec<usize>,
    /// Where the second reader may see a command that is none, or miss one.
    pub excused: Vec<usize>,
    /// Whether there is more than simple commands: a second reading is worth its time.
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
            self.unknown("it holds too many commands");
        } else {
            self.analysis.commands.push(command);
        }
    }

    pub(super) fn redirection(&mut self, redirection: Redirection) {
        if self.is_full() {
            self.unknown("it holds too many commands");
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

    /// Whether a command of this name was found since.
    pub(super) fn ran_since(&self, mark: Mark, name: Option<&str>) -> bool {
        let mut commands = self.analysis.commands.iter().skip(mark.commands);
        name.is_some() && commands.any(|command| command.words.first().and_then(Option::as_deref) == name)
    }

    /// Whether a command was found since that may change the folder.
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
