//! `cargo xtask e2e-mcp`: the official conformance suite through our client and our server, real servers through our client, and the
//! official clients against `rheon mcp serve`.
//!
//! Opt-in: the first run installs all of them from npm into a cache directory. The servers work on a directory in it.

mod conformance;
mod packages;
mod program;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::command::Invocation;
use crate::fake_model::target_dir;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only this part
    #[arg(value_enum)]
    part: Option<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// The conformance suite
    Conformance,
    /// Real servers through our client, and real documents
    Servers,
    /// Official clients against our program
    Program,
}

/// Installs what is missing and runs what needs it.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let cache = cache_dir();
    println!(
        "== e2e-mcp: what is tried out is kept in {} (RHEON_E2E_CACHE names another directory)",
        cache.display()
    );
    packages::install(&cache)?;
    let wanted = |part: Part| arguments.part.is_none_or(|only| only == part);
    if wanted(Part::Conformance) {
        Invocation::new("build --locked -p rheon-connect --example conformance").run()?;
        conformance::run(&cache)?;
    }
    if wanted(Part::Servers) {
        servers(&cache)?;
    }
    if wanted(Part::Program) {
        program::run(&cache)?;
    }
    println!("== e2e-mcp: all is well");
    Ok(())
}

/// Tests that need the servers and documents.
fn servers(cache: &Path) -> Result<()> {
    let status = Command::new("cargo")
        .args(["test", "--locked", "-p", "rheon-connect", "--test", "it", "real", "--"])
        .args(["--ignored", "--nocapture", "--test-threads", "1"])
        .env("RHEON_MCP_SERVERS", cache)
        .current_dir(xtask::walk::root())
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "a real server does not work with our client; see above");
    Ok(())
}

/// `RHEON_E2E_CACHE`, or a directory in cargo's target directory.
fn cache_dir() -> PathBuf {
    match std::env::var_os("RHEON_E2E_CACHE") {
        Some(dir) => xtask::walk::root().join(dir).join("mcp"),
        None => target_dir().join("e2e-mcp"),
    }
}
