//! The program `rheon`: argv picks a command, and every way to end has an exit code.

mod ask;
mod command;
mod connection;
mod driven;
mod editor;
mod ending;
mod exit;
mod failure;
mod flags;
mod ground;
mod headless;
mod host;
mod json;
mod output;
mod raw_mode;
mod repl;
mod runtime;
mod schema;
mod show;
mod signals;
mod table;
mod terminal;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser};

use command::{Command, Run};
use exit::Exit;

fn main() -> ExitCode {
    run(std::env::args_os()).into()
}

/// Runs coding agents: a model, its tools, and a log of all that happens
///
/// Without a command: speak with an agent about the files of this folder. With -p, or as `rheon run`: do one thing and print the
/// answer, for scripts. A run is a log of events; what you see on the screen and what a program reads as JSON are views of it.
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

/// Does what `arguments` say and tells how it ended.
fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let done = match Cli::try_parse_from(arguments) {
        Ok(Cli { command: Some(command), .. }) => command.run(Cli::command),
        Ok(Cli { command: None, run, version: _ }) => {
            run.no_mistyped_command(&Cli::command()).and_then(|()| run.interactive_or_headless())
        }
        Err(error) => {
            // Help and version arrive as errors too. If they cannot be printed, nobody is there to be told.
            error.print().ok();
            return if error.use_stderr() { Exit::Usage } else { Exit::Done };
        }
    };
    done.unwrap_or_else(|failure| {
        output::complain(&failure.to_string());
        failure.exit()
    })
}
