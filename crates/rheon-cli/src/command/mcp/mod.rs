//! `rheon mcp`.

mod add;
mod list;
mod remove;
mod serve;
mod serve_text;

use rheon_app::config::{McpFile, McpScope};
use rheon_app::session::SystemContext;

use super::setup::config;
use crate::exit::Exit;
use crate::failure::Failure;

/// Manage MCP servers, whose tools the agent can use
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    command: McpCommand,
}

#[derive(Debug, clap::Subcommand)]
enum McpCommand {
    List(list::List),
    Get(list::Get),
    Test(list::Test),
    Add(add::Add),
    Remove(remove::Remove),
    Serve(serve::Serve),
}

impl Mcp {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        match self.command {
            McpCommand::List(command) => command.run(),
            McpCommand::Get(command) => command.run(),
            McpCommand::Test(command) => command.run(),
            McpCommand::Add(command) => command.run(),
            McpCommand::Remove(command) => command.run(),
            McpCommand::Serve(command) => command.run(),
        }
    }
}

/// Which file holds a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ScopeFlag {
    User,
    Project,
}

impl ScopeFlag {
    fn scope(self) -> McpScope {
        match self {
            Self::User => McpScope::User,
            Self::Project => McpScope::Project,
        }
    }
}

/// The file of a scope.
fn file(scope: ScopeFlag, system: &SystemContext) -> Result<McpFile, Failure> {
    match scope.scope() {
        McpScope::User => {
            system.folders.config().map(|folder| McpFile::of_user(&folder)).map_err(Failure::error)
        }
        McpScope::Project => Ok(McpFile::of_project(&config(system)?.project_root)),
    }
}
