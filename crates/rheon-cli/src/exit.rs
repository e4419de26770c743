//! `Exit`: the exit codes of all commands.

use std::process::ExitCode;

use rheon_types::{LimitKind, RunEnd};

/// How the program ends. Scripts rely on the numbers, so a code never changes its meaning. 6 is reserved: a critic rejected the
/// result.
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

const TABLE: [(Exit, &str); 9] = [
    (Exit::Done, "success"),
    (Exit::Error, "error"),
    (Exit::Usage, "usage or configuration error"),
    (Exit::Budget, "the budget is spent, or too small for the next call"),
    (Exit::Limit, "the turn or time limit was reached, or the model repeated itself"),
    (Exit::Denied, "permission denied: by a rule, a hook or a filter, or because the run is non-interactive"),
    (Exit::ComeBackLater, "the service is temporarily unavailable; retry later"),
    (Exit::Interrupted, "interrupted (Ctrl-C)"),
    (Exit::Terminated, "terminated"),
];

/// The table as text, for `--help`.
pub(crate) fn table() -> String {
    let row = |(exit, meaning): &(Exit, &str)| format!("\n  {:>3}  {meaning}", exit.code());
    format!("Exit codes:{}", TABLE.iter().map(row).collect::<String>())
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// The exit code of a run.
    pub(crate) fn of_run(end: &RunEnd) -> Self {
        match end {
            RunEnd::Completed => Self::Done,
            RunEnd::Limit { limit: LimitKind::Tokens | LimitKind::Budget, .. } => Self::Budget,
            RunEnd::Truncated
            | RunEnd::Stuck { .. }
            | RunEnd::Limit { limit: LimitKind::Turns | LimitKind::Duration, .. } => Self::Limit,
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
