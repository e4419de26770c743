//! The program `rheon`: argv picks a command, and every way to end has an exit code.

mod ask;
mod cli;
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
mod prompt;
mod raw_mode;
mod repl;
mod runtime;
mod schema;
mod show;
mod signals;
mod table;
mod terminal;
mod trusting;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(std::env::args_os()).into()
}
