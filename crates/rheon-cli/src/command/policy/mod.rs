//! `rheon policy`.

mod explain;
mod test;

use crate::exit::Exit;
use crate::failure::Failure;

/// Explain and test permission rules
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Policy {
    #[command(subcommand)]
    command: PolicyCommand,
}

#[derive(Debug, clap::Subcommand)]
enum PolicyCommand {
    Explain(explain::Explain),
    Test(test::Test),
}

impl Policy {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        match self.command {
            PolicyCommand::Explain(command) => command.run(),
            PolicyCommand::Test(command) => command.run(),
        }
    }
}
