//! The program `rheon`: argv picks a command, and every way to end has an exit code.

mod cli;
mod command;
mod exit;
mod output;
mod render;
mod show;
mod signals;
mod terminal;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(std::env::args_os()).into()
}
