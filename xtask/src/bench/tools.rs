//! `cargo xtask bench tools`: files, search and shell lines, beside what does the same without the tools.

mod ripgrep;
mod rows;

use anyhow::Result;

use super::figures::{Figures, render};
use super::process::{cargo, load, printed};

/// Runs the benchmark and prints the table.
pub(super) fn run() -> Result<()> {
    let mut bench = cargo("bench --package rheon --locked --bench tools");
    if let Some(program) = ripgrep::program() {
        bench.env("RHEON_BENCH_RIPGREP", program);
    }
    let mut figures = Figures::default();
    let before = load();
    figures.read(&printed(&mut bench)?)?;
    println!("\n{}", render(&rows::rows(), &figures));
    println!("load of the machine: {before} before, {} behind", load());
    Ok(())
}
