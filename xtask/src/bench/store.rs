//! `cargo xtask bench store`: journals, sessions and their index, beside what does the same without them.

mod rows;

use anyhow::Result;

use super::figures::{Figures, render};
use super::process::{cargo, load, printed};

/// Runs the benchmark and prints the table.
pub(super) fn run() -> Result<()> {
    let mut figures = Figures::default();
    let before = load();
    figures.read(&printed(&mut cargo("bench --package rheon-store --locked --bench store"))?)?;
    println!("\n{}", render(&rows::rows(), &figures));
    println!("load of the machine: {before} before, {} behind", load());
    Ok(())
}
