//! `rheon sessions`.

mod argument;
mod cost;
mod delete;
mod export;
mod fork;
mod list;
mod manager;
mod replay;
mod resume;
mod rewind;
mod scope;
mod search;
mod show;
mod stats;

use crate::exit::Exit;
use crate::failure::Failure;

/// List, show, resume, rewind, export and delete sessions
///
/// Name a session by its id or an id prefix; without one, most commands take the latest of this directory.
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Sessions {
    #[command(subcommand)]
    command: SessionsCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SessionsCommand {
    List(list::List),
    Show(show::Show),
    Search(search::Search),
    Resume(resume::Resume),
    Fork(fork::Fork),
    Rewind(rewind::Rewind),
    Export(export::Export),
    Replay(replay::Replay),
    Delete(delete::Delete),
    Stats(stats::Stats),
}

impl Sessions {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        match self.command {
            SessionsCommand::List(command) => command.run(),
            SessionsCommand::Show(command) => command.run(),
            SessionsCommand::Search(command) => command.run(),
            SessionsCommand::Resume(command) => command.run(),
            SessionsCommand::Fork(command) => command.run(),
            SessionsCommand::Rewind(command) => command.run(),
            SessionsCommand::Export(command) => command.run(),
            SessionsCommand::Replay(command) => command.run(),
            SessionsCommand::Delete(command) => command.run(),
            SessionsCommand::Stats(command) => command.run(),
        }
    }
}
