//! The packages from npm that `cargo xtask e2e-mcp` tries out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

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
pub(super) fn node(cache: &Path) -> PathBuf {
    let package = node_package().unwrap_or_default();
    cache.join("node_modules").join(package).join("bin/node")
}

/// Installs what is missing.
pub(super) fn install(cache: &Path) -> Result<()> {
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
