//! `cargo xtask e2e-mcp`: every tool, resource and prompt of real MCP servers through our client; one is killed and comes back.
//!
//! Opt-in: the first run installs the servers from npm into a cache directory. They work on a directory in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::fake_model::target_dir;

/// The servers, in the versions whose tools we know.
const PACKAGES: [&str; 3] = [
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
];

/// Installs what is missing and runs the tests that need it.
pub(crate) fn run() -> Result<()> {
    let cache = cache_dir();
    println!(
        "== e2e-mcp: the servers are kept in {} (RHEON_E2E_CACHE names another directory)",
        cache.display()
    );
    install(&cache)?;
    let status = Command::new("cargo")
        .args(["test", "--locked", "-p", "rheon-connect", "--test", "it", "real::", "--"])
        .args(["--ignored", "--nocapture", "--test-threads", "1"])
        .env("RHEON_MCP_SERVERS", &cache)
        .current_dir(xtask::walk::root())
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "a real server does not work with our client; see above");
    println!("== e2e-mcp: all is well");
    Ok(())
}

/// `RHEON_E2E_CACHE`, or a directory in cargo's target directory.
fn cache_dir() -> PathBuf {
    match std::env::var_os("RHEON_E2E_CACHE") {
        Some(dir) => xtask::walk::root().join(dir).join("mcp"),
        None => target_dir().join("e2e-mcp"),
    }
}

fn install(cache: &Path) -> Result<()> {
    let (mark, packages) = (cache.join("installed"), PACKAGES.join(" "));
    if fs::read_to_string(&mark).is_ok_and(|installed| installed == packages) {
        return Ok(());
    }
    println!("== e2e-mcp: installing {packages}");
    fs::create_dir_all(cache).with_context(|| format!("cannot create {}", cache.display()))?;
    let installed = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"])
        .arg(cache)
        .args(PACKAGES)
        .status()
        .context("cannot start npm")?;
    ensure!(installed.success(), "npm could not install the servers; see its words above and try again");
    fs::write(&mark, packages).with_context(|| format!("cannot write {}", mark.display()))
}
