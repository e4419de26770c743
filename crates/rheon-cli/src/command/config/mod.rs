//! `rheon config`: what is configured, where it comes from, and whether it is right.

mod edit;
mod path;
mod show;
mod validate;

use crate::exit::Exit;
use crate::failure::Failure;

/// Show, find, edit and check what is configured
///
/// Settings are TOML files: yours, those of a project, those of a project that are only yours, and those of whoever owns the machine. Later
/// ones go before earlier ones; a project can only make things tighter.
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Config {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ConfigCommand {
    Show(show::Show),
    Path(path::Path),
    Edit(edit::Edit),
    Validate(validate::Validate),
}

impl Config {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        match self.command {
            ConfigCommand::Show(command) => command.run(),
            ConfigCommand::Path(command) => command.run(),
            ConfigCommand::Edit(command) => command.run(),
            ConfigCommand::Validate(command) => command.run(),
        }
    }
}
