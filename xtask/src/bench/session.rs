//! `cargo xtask bench session`: subscribers of a session, snapshots, and the byte pipe beside the local client.

mod rows;

use anyhow::Result;

use super::figures::{Figures, render};
use super::process::{cargo, load, printed};

/// Runs the benchmark and prints the table.
pub(super) fn run() -> Result<()> {
    let mut figures = Figures::default();
    let before = load();
    figures.read(&printed(&mut cargo("bench --package rheon-app --locked --bench session"))?)?;
    println!("\n{}", render(&rows::rows(), &figures));
    println!("load of the machine: {before} before, {} after", load());
    Ok(())
}
