//! `rheon memory`.

mod delete;
mod edit;
mod item;
mod judge;
mod list;
mod manager;
mod search;
mod show;

use crate::exit::Exit;
use crate::failure::Failure;

/// Manage the memory: notes, episodes (summaries of sessions), learnings
///
/// Name a note by its name, an episode by its session id or id prefix, a learning by its number.
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Memory {
    #[command(subcommand)]
    command: MemoryCommand,
}

#[derive(Debug, clap::Subcommand)]
enum MemoryCommand {
    List(list::List),
    Show(show::Show),
    Search(search::Search),
    Edit(edit::Edit),
    Delete(delete::Delete),
    Approve(judge::Approve),
    Reject(judge::Reject),
}

impl Memory {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        match self.command {
            MemoryCommand::List(command) => command.run(),
            MemoryCommand::Show(command) => command.run(),
            MemoryCommand::Search(command) => command.run(),
            MemoryCommand::Edit(command) => command.run(),
            MemoryCommand::Delete(command) => command.run(),
            MemoryCommand::Approve(command) => command.run(),
            MemoryCommand::Reject(command) => command.run(),
        }
    }
}
