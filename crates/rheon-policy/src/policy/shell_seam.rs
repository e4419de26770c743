//! `Shell`: where policy learns what a line of bash would run; `ShellFacts`: what it tells the shell of that.

use std::path::PathBuf;

use rheon_types::event::Danger;

use crate::shell::{self, Analysis, SimpleCommand};

/// Where policy learns what a line of bash would run.
#[derive(Debug, Clone, Copy)]
pub struct Shell {
    /// What a line would run.
    pub analyse: fn(&str) -> Analysis,
    /// How much harm a command could do, and why.
    pub danger: fn(&SimpleCommand) -> (Danger, &'static str),
}

/// What the gate found out about a call that runs a line of bash. It travels with the verdict to the tool
/// ([`CallFacts`](rheon_types::CallFacts)), which need not analyse the line again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellFacts {
    /// The line.
    pub line: String,
    /// The folder in which it was judged to begin; absent where the gate follows no shell.
    pub folder: Option<PathBuf>,
    /// What it would run.
    pub analysis: Analysis,
}

impl Default for Shell {
    fn default() -> Self {
        Self { analyse: shell::analyse, danger: shell::danger }
    }
}
