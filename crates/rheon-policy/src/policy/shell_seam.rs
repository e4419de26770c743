//! `Shell`: where policy learns what a line of bash would run.

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

impl Default for Shell {
    fn default() -> Self {
        Self { analyse: shell::analyse, danger: shell::danger }
    }
}
