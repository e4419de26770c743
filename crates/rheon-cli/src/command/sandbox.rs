//! `rheon sandbox`.

use rheon_app::session::clean_sandbox_caches;
use rheon_text::units::{bytes, count};

use super::setup::system;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;

/// Manage what the sandbox keeps between sessions
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Sandbox {
    #[command(subcommand)]
    command: SandboxCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SandboxCommand {
    /// Remove what commands wrote to package caches, in all projects
    ///
    /// Your own caches stay as they are. Layers of running sessions are kept.
    Clean,
}

impl Sandbox {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let SandboxCommand::Clean = self.command;
        let report = clean_sandbox_caches(&system(None)?).map_err(Failure::error)?;
        let mut text =
            format!("Removed {} ({}).\n", count(report.layers as u64, "layer"), bytes(report.bytes));
        if report.in_use > 0 {
            let in_use = count(report.in_use as u64, "layer");
            text.push_str(&format!("Kept {in_use} of running sessions; end them and run this again.\n"));
        }
        print(&text)?;
        Ok(Exit::Done)
    }
}
