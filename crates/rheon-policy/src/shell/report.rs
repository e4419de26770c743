//! Collects the results of a shell analysis, up to a limit.

use super::types::{Analysis, Redirection, SimpleCommand};

/// Commands, and redirections, to record. A line with more is unknown.
pub(super) const FOUND_MAX: usize = 1_000;

/// The reason for a function that calls itself forever.
pub(super) const CALLS_ITSELF: &str = "a function that calls itself";

pub(super) const GLOB: &str = "a glob pattern";
pub(super) const BRACES: &str = "a brace expansion";
pub(super) const ARITHMETIC: &str = "an arithmetic expansion";

/// Reasons that leave the structure of a line known: every command is listed, some words are unknown.
pub(super) const WORD_REASONS: [&str; 8] = [
    "an expansion",
    "a command substitution",
    "a process substitution",
    GLOB,
    BRACES,
    "a home directory",
    ARITHMETIC,
    "a translated string",
];

/// Why a part of a line is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// Commands may be missing from the list.
    Hides(&'static str),
    /// All commands of the line are listed; what they are given or what a program does is unknown.
    Leaves(&'static str),
}

impl Doubt {
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Hides(reason) | Self::Leaves(reason) => reason,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Report {
    pub analysis: Analysis,
    /// Positions of commands in the text, for the cross-check.
    pub starts: Vec<usize>,
    /// Positions at which the second parser may wrongly see or miss a command.
    pub excused: Vec<usize>,
    /// Whether an expression is evaluated in which variables occur: bash runs commands in their values.
    pub evaluates: bool,
    /// Whether the line sets a variable to a text that bash could run when it evaluates it.
    pub sets_text: bool,
    /// Whether the next command is fed by the one before it.
    pub pipe_next: bool,
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

    /// Records a reason for which commands may be missing.
    pub(super) fn hides(&mut self, reason: &str) {
        self.unknown(reason);
        self.analysis.hidden.get_or_insert_with(|| reason.to_owned());
    }

    pub(super) fn doubt(&mut self, doubt: Doubt) {
        match doubt {
            Doubt::Hides(reason) => self.hides(reason),
            Doubt::Leaves(reason) => self.unknown(reason),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.analysis.commands.len() >= FOUND_MAX || self.analysis.redirections.len() >= FOUND_MAX
    }

    pub(super) fn command(&mut self, mut command: SimpleCommand) {
        command.piped = std::mem::take(&mut self.pipe_next);
        if self.is_full() {
            self.hides("too many commands");
        } else {
            self.analysis.commands.push(command);
        }
    }

    pub(super) fn redirection(&mut self, redirection: Redirection) {
        if self.is_full() {
            self.hides("too many commands");
        } else {
            self.analysis.redirections.push(redirection);
        }
    }

    /// A command that may run. Rules about commands apply to it and nothing else.
    pub(super) fn possible(&mut self, command: SimpleCommand) {
        if self.analysis.possible.len() >= FOUND_MAX {
            self.hides("too many commands");
        } else {
            self.analysis.possible.push(command);
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

    pub(super) fn forget_dirs_from(&mut self, mark: Mark) {
        self.analysis.commands.iter_mut().skip(mark.commands).for_each(|command| command.dirs.clear());
        self.analysis.redirections.iter_mut().skip(mark.redirections).for_each(|file| file.dirs.clear());
    }
}
