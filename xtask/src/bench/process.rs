//! Programs that the benchmarks run, and where they leave their results.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

/// A checkout of the repository: this one, or another one to compare with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checkout {
    root: PathBuf,
    target: PathBuf,
}

impl Checkout {
    /// This one.
    pub(super) fn here() -> Self {
        let root = xtask::walk::root();
        let target = std::env::var_os("CARGO_TARGET_DIR");
        let target = target.map_or_else(|| root.join("target"), |named| root.join(named));
        Self { root, target }
    }

    /// The one in `root`, with a target directory of its own.
    pub(super) fn at(root: &Path) -> Result<Self> {
        let found = root.canonicalize().with_context(|| format!("cannot find {}", root.display()))?;
        ensure!(found.join("xtask/Cargo.toml").is_file(), "{} is not a checkout of Rheon", root.display());
        Ok(Self { target: found.join("target"), root: found })
    }

    /// Cargo with these arguments, separated by blanks, at the root.
    pub(super) fn cargo(&self, arguments: &str) -> Command {
        // Cargo names itself to what it runs, so that a nested call uses the same toolchain.
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo
            .args(arguments.split_whitespace())
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target);
        cargo
    }

    /// A directory below the target directory.
    pub(super) fn target(&self, dir: &str) -> PathBuf {
        self.target.join(dir)
    }
}

/// Cargo with these arguments, separated by blanks, at the root of this checkout.
pub(super) fn cargo(arguments: &str) -> Command {
    Checkout::here().cargo(arguments)
}

/// A directory below the target directory of this checkout.
pub(super) fn target(dir: &str) -> PathBuf {
    Checkout::here().target(dir)
}

/// How busy the machine is, where it says so.
pub(super) fn load() -> String {
    let told = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    told.split_whitespace().next().unwrap_or("unknown").to_owned()
}

/// Runs `command`, says so, and returns what it printed; what it complains about is seen at once.
pub(super) fn printed(command: &mut Command) -> Result<String> {
    println!("== {}", shown(command));
    succeeded(command.stderr(Stdio::inherit()))
}

/// Runs `command` and shows what it says only if it fails.
pub(super) fn silent(command: &mut Command) -> Result<String> {
    succeeded(command.stderr(Stdio::piped()))
}

fn succeeded(command: &mut Command) -> Result<String> {
    let shown = shown(command);
    let output = command.output().with_context(|| format!("cannot start `{shown}`"))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!("`{shown}` ended with {}\n{complaint}", output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn shown(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let program = program.file_name().unwrap_or_else(|| command.get_program());
    let words: Vec<_> =
        std::iter::once(program).chain(command.get_args()).map(OsStr::to_string_lossy).collect();
    words.join(" ")
}
