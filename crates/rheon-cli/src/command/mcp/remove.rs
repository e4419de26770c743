//! `rheon mcp remove`.

use super::super::setup::system;
use super::scope::{ScopeFlag, file};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;

/// Remove an MCP server
#[derive(Debug, clap::Args)]
pub(crate) struct Remove {
    /// The name of the server
    name: String,

    /// Where it is saved: your settings, or .mcp.json of this project
    #[arg(short, long, value_enum, default_value = "user")]
    scope: ScopeFlag,
}

impl Remove {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let file = file(self.scope, &system(None)?)?;
        file.remove(&self.name).map_err(Failure::usage)?;
        print(&format!("Removed {} from {}.\n", self.name, file.path().display()))
    }
}
