//! `rheon config`.

mod edit;
mod path;
mod show;
mod validate;

use crate::exit::Exit;
use crate::failure::Failure;

/// Show, edit and validate the configuration
///
/// Settings are TOML files: yours, the project's, your personal ones for the project, and those managed by an administrator. Later ones win;
/// a project can only make settings stricter.
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
