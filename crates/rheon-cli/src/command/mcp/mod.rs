//! `rheon mcp`.

mod add;
mod agent_service;
mod list;
mod login;
mod remove;
mod scope;
mod serve;
mod serve_text;

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
    Login(login::Login),
    Logout(login::Logout),
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
            McpCommand::Login(command) => command.run(),
            McpCommand::Logout(command) => command.run(),
            McpCommand::Serve(command) => command.run(),
        }
    }
}
