//! `cargo xtask e2e-sdk`: the official Python SDK of Claude Code drives our program.
//!
//! Opt-in: the first run installs the SDK into a cache directory. The model is our fake server; nothing leaves the machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::command::Invocation;
use crate::fake_model::{FakeModel, target_dir};

/// The SDK, in the version whose flags and messages we know.
const PACKAGE: &str = "claude-agent-sdk==0.2.182";
/// Where the cases and what the model says in them are.
const DIR: &str = "xtask/src/e2e_sdk";

/// Installs what is missing and plays every case, or those that are named.
pub(crate) fn run(cases: &[String]) -> Result<()> {
    let cache = cache_dir();
    println!("== e2e-sdk: the SDK is kept in {} (RHEON_E2E_CACHE names another directory)", cache.display());
    let python = install(&cache)?;
    Invocation::new("build --locked -p rheon-testkit --bin rheon-fake-model").run()?;
    Invocation::new("build --locked -p rheon-cli").run()?;
    let stage = stage(&cache)?;
    let dir = xtask::walk::root().join(DIR);
    let script = dir.join("script.toml").display().to_string();
    let model = FakeModel::start(&["--script", &script])?;
    let status = Command::new(python)
        .arg(dir.join("cases.py"))
        .arg(target_dir().join("debug/rheon"))
        .arg(stage.join("workspace"))
        .args(cases)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", stage.join("home"))
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("ANTHROPIC_API_KEY", "dummy")
        .status()
        .context("cannot start python")?;
    ensure!(status.success(), "the SDK cannot drive the program; see the cases above");
    println!("== e2e-sdk: all is well");
    Ok(())
}

/// `RHEON_E2E_CACHE`, or a directory in cargo's target directory.
fn cache_dir() -> PathBuf {
    match std::env::var_os("RHEON_E2E_CACHE") {
        Some(dir) => xtask::walk::root().join(dir).join("sdk"),
        None => target_dir().join("e2e-sdk"),
    }
}

/// A Python with the SDK, installed unless it is there. The SDK's package holds a program of its own, which is not used.
fn install(cache: &Path) -> Result<PathBuf> {
    let (venv, mark) = (cache.join("venv"), cache.join("installed"));
    let python = venv.join("bin/python");
    if fs::read_to_string(&mark).is_ok_and(|installed| installed == PACKAGE) {
        return Ok(python);
    }
    println!("== e2e-sdk: installing {PACKAGE}");
    fs::create_dir_all(cache).with_context(|| format!("cannot create {}", cache.display()))?;
    let made = Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv).status();
    ensure!(made.context("cannot start python3")?.success(), "python3 cannot make a virtual environment");
    let arguments = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE];
    let installed = Command::new(&python).args(arguments).status().context("cannot start pip")?;
    ensure!(installed.success(), "pip could not install {PACKAGE}; see its words above and try again");
    fs::write(&mark, PACKAGE).with_context(|| format!("cannot write {}", mark.display()))?;
    Ok(python)
}

/// A fresh home and a workspace with the files that the cases read.
fn stage(cache: &Path) -> Result<PathBuf> {
    let stage = cache.join("stage");
    if stage.exists() {
        fs::remove_dir_all(&stage).with_context(|| format!("cannot remove {}", stage.display()))?;
    }
    let workspace = stage.join("workspace");
    for dir in [stage.join("home"), workspace.join("more")] {
        fs::create_dir_all(dir).context("cannot create a stage")?;
    }
    for (name, text) in [("open.txt", "an open book\n"), ("closed.txt", "a closed one\n")] {
        fs::write(workspace.join(name), text).context("cannot write a file of the workspace")?;
    }
    // The program calls directories by their real names.
    stage.canonicalize().context("cannot find the stage")
}
