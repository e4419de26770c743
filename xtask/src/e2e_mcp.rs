//! `cargo xtask e2e-mcp`: the official conformance suite through our client and our server, real servers through our client, and the
//! official clients against `rheon mcp serve`.
//!
//! Opt-in: the first run installs all of them from npm into a cache directory. The servers work on a directory in it.

mod conformance;
mod program;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::command::Invocation;
use crate::fake_model::target_dir;

/// What is tried out, in the versions that we know.
const PACKAGES: [&str; 7] = [
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/client@2.4.0",
    "@octokit/openapi@23.0.2",
];

/// The version of Node.js that the conformance suite needs.
const NODE: &str = "22.23.3";

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
    install(&cache)?;
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

/// The name of Node's package for this machine. It holds the program itself, so no script has to install it.
fn node_package() -> Result<String> {
    let system = match std::env::consts::OS {
        "linux" => "linux",
        "macos" => "darwin",
        other => bail!("there is no Node.js for {other} on npm"),
    };
    let machine = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => bail!("there is no Node.js for {other} on npm"),
    };
    Ok(format!("node-{system}-{machine}"))
}

/// The Node.js that was installed.
fn node(cache: &Path) -> PathBuf {
    let package = node_package().unwrap_or_default();
    cache.join("node_modules").join(package).join("bin/node")
}

fn install(cache: &Path) -> Result<()> {
    let packages = format!("{} {}@{NODE}", PACKAGES.join(" "), node_package()?);
    let mark = cache.join("installed");
    if fs::read_to_string(&mark).is_ok_and(|installed| installed == packages) {
        return Ok(());
    }
    println!("== e2e-mcp: installing {packages}");
    fs::create_dir_all(cache).with_context(|| format!("cannot create {}", cache.display()))?;
    let installed = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"])
        .arg(cache)
        .args(packages.split(' '))
        .status()
        .context("cannot start npm")?;
    ensure!(installed.success(), "npm could not install the packages; see its words above and try again");
    fs::write(&mark, packages).with_context(|| format!("cannot write {}", mark.display()))
}
