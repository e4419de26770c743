//! `Cli`: what can be typed after `rheon`, and where it goes.

use std::ffi::OsString;

use clap::Parser;

use crate::command::Command;
use crate::exit::{self, Exit};
use crate::output;

/// Runs coding agents: a model, its tools, and a log of all that happens
///
/// A run is a log of events. What you see on the screen and what a program reads as JSON are views of that one log.
#[derive(Debug, Parser)]
#[command(
    name = "rheon",
    version,
    arg_required_else_help = true,
    after_help = include_str!("examples.txt").trim_end(),
    after_long_help = format!("{}\n{}", include_str!("examples.txt"), exit::table()),
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// Does what `arguments` say and tells how it ended.
pub(crate) fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    match Cli::try_parse_from(arguments) {
        Ok(cli) => cli.command.run().unwrap_or_else(|error| {
            output::complain(&error.to_string());
            Exit::Error
        }),
        Err(error) => {
            // Help and version arrive as errors too. If they cannot be printed, nobody is there to be told.
            error.print().ok();
            if error.use_stderr() { Exit::Usage } else { Exit::Done }
        }
    }
}
