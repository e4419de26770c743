//! The program `rheon`: parses the arguments, runs a command and maps its outcome to an exit code.

mod ask;
mod command;
mod connection;
mod editor;
mod exit;
mod failure;
mod flags;
mod headless;
mod host;
mod json;
mod output;
mod raw_mode;
mod repl;
mod run_outcome;
mod runtime;
mod schema;
mod signals;
mod stdio;
mod table;
mod target;
mod terminal;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser};

use command::{Command, Run};
use exit::Exit;

fn main() -> ExitCode {
    run(std::env::args_os()).into()
}

/// A coding agent for your terminal, your scripts and your own programs
///
/// Without a command, Rheon starts a conversation in this directory. With -p, or as `rheon run`, it answers one prompt and exits.
#[derive(Debug, Parser)]
#[command(
    name = "rheon",
    version,
    disable_version_flag = true,
    args_conflicts_with_subcommands = true,
    after_help = include_str!("examples.txt").trim_end(),
    after_long_help = format!("{}\n{}", include_str!("examples.txt"), exit::table()),
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    /// Print version
    #[arg(short = 'V', short_alias = 'v', long, action = clap::ArgAction::Version, display_order = 1_000)]
    version: Option<bool>,

    #[command(flatten)]
    run: Run,
}

/// Runs the command and returns its exit code.
fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let done = match Cli::try_parse_from(arguments) {
        Ok(Cli { command: Some(command), .. }) => command.run(Cli::command),
        Ok(Cli { command: None, run, version: _ }) => {
            run.no_mistyped_command(&Cli::command()).and_then(|()| run.interactive_or_headless())
        }
        Err(error) => {
            // Help and version arrive as errors too. A failure to print them has no one to report to.
            error.print().ok();
            return if error.use_stderr() { Exit::Usage } else { Exit::Done };
        }
    };
    done.unwrap_or_else(|failure| {
        output::print_error(&failure.to_string());
        failure.exit()
    })
}
