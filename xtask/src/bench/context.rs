//! `cargo xtask bench context`: what a turn pays for the conversation before it, and what it takes to make a window shorter.

mod rows;

use anyhow::Result;

use super::figures::{Figures, render};
use super::process::{cargo, load, printed};

/// Runs the benchmark and prints the table.
pub(super) fn run() -> Result<()> {
    let mut figures = Figures::default();
    let before = load();
    figures.read(&printed(&mut cargo("bench --package rheon --locked --bench context"))?)?;
    println!("\n{}", render(&rows::rows(), &figures));
    println!("load of the machine: {before} before, {} behind", load());
    Ok(())
}
