//! `cargo xtask bench tools`: files, search and shell lines, beside what does the same without the tools.

mod rows;

use std::path::PathBuf;

use anyhow::Result;

use super::figures::{Figures, render};
use super::process::{cargo, load, printed, target};

/// Runs the benchmark and prints the table.
pub(super) fn run() -> Result<()> {
    let mut bench = cargo("bench --package rheon --locked --bench tools");
    if let Some(program) = ripgrep() {
        bench.env("RHEON_BENCH_RIPGREP", program);
    }
    let mut figures = Figures::default();
    let before = load();
    figures.read(&printed(&mut bench)?)?;
    println!("\n{}", render(&rows::rows(), &figures));
    println!("load of the machine: {before} before, {} behind", load());
    Ok(())
}

/// The version of ripgrep. What distributions ship is often years old, and then another program than the crates our tools are built from.
const RIPGREP_VERSION: &str = "15.2.0";

/// The `rg` program that searches are compared with: one of a known version, compiled and kept in the target directory the first time. None, with a word about why, if that cannot be done.
fn ripgrep() -> Option<PathBuf> {
    let root = target("ripgrep");
    let program = root.join("bin").join(format!("rg{}", std::env::consts::EXE_SUFFIX));
    if program.exists() {
        println!("== ripgrep {RIPGREP_VERSION} is in {}", shown(&root));
        return Some(program);
    }
    println!("== ripgrep {RIPGREP_VERSION} is compiled into {}, once", shown(&root));
    let mut install = cargo(&format!("install ripgrep --version {RIPGREP_VERSION} --locked --quiet --root"));
    match printed(install.arg(&root)) {
        Ok(_) => Some(program),
        Err(problem) => {
            println!(
                "== ripgrep cannot be compiled, one that is installed is taken if there is any: {problem:#}"
            );
            None
        }
    }
}

fn shown(dir: &std::path::Path) -> String {
    let root = xtask::walk::root();
    dir.strip_prefix(&root).unwrap_or(dir).display().to_string()
}
