//! `Exit`: how the program ends. The one table of exit codes, for all commands.

use std::process::ExitCode;

use rheon_types::{LimitKind, RunEnd};

/// How the program ends. Scripts rely on the numbers: a code never gets another meaning. Reserved is 6 (a critic rejected
/// the result).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    Done = 0,
    Error = 1,
    Usage = 2,
    Budget = 3,
    Limit = 4,
    Denied = 5,
    ComeBackLater = 75,
    Interrupted = 130,
    Terminated = 143,
}

/// What each means.
const TABLE: [(Exit, &str); 9] = [
    (Exit::Done, "done"),
    (Exit::Error, "error"),
    (Exit::Usage, "wrong usage or configuration"),
    (Exit::Budget, "the budget is spent, or too small for the next call"),
    (Exit::Limit, "the turn or time limit was reached"),
    (Exit::Denied, "permission denied: by a rule, a hook or a filter, or because nobody could be asked"),
    (Exit::ComeBackLater, "the service asks to come back later"),
    (Exit::Interrupted, "interrupted (Ctrl-C)"),
    (Exit::Terminated, "terminated"),
];

/// The table as text, for the help.
pub(crate) fn table() -> String {
    let row = |(exit, meaning): &(Exit, &str)| format!("\n  {:>3}  {meaning}", exit.code());
    format!("Exit codes:{}", TABLE.iter().map(row).collect::<String>())
}

impl Exit {
    /// The number.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// How a program ends whose run ended so.
    pub(crate) fn of_run(end: &RunEnd) -> Self {
        match end {
            RunEnd::Completed => Self::Done,
            RunEnd::Limit { limit: LimitKind::Tokens | LimitKind::Budget, .. } => Self::Budget,
            RunEnd::Truncated | RunEnd::Limit { limit: LimitKind::Turns | LimitKind::Duration, .. } => {
                Self::Limit
            }
            RunEnd::Rejected { .. } | RunEnd::Vetoed { .. } => Self::Denied,
            RunEnd::Aborted => Self::Interrupted,
            RunEnd::Failed { .. } => Self::Error,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
#[path = "exit_tests.rs"]
mod tests;
