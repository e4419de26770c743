//! The program `rheon`: argv picks a command, and every way to end has an exit code.

mod ago;
mod ask;
mod cli;
mod command;
mod ending;
mod exit;
mod failure;
mod flags;
mod format;
mod headless;
mod output;
mod prompt;
mod render;
mod repl;
mod runtime;
mod schema;
mod show;
mod signals;
mod table;
mod terminal;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(std::env::args_os()).into()
}
