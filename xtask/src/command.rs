//! `Invocation`: one call of cargo, as a value that can be shown before it runs.

use std::fmt;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// One call of cargo.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Invocation {
    /// What follows `cargo`.
    pub(crate) arguments: Vec<String>,
    /// Variables set for it.
    pub(crate) variables: Vec<(&'static str, &'static str)>,
}

impl Invocation {
    /// A call with these arguments, separated by blanks.
    pub(crate) fn new(arguments: &str) -> Self {
        Self { arguments: arguments.split_whitespace().map(str::to_owned).collect(), variables: Vec::new() }
    }

    /// The same call with a variable set.
    pub(crate) fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.variables.push((name, value));
        self
    }

    /// Runs it at the root of the repository; fails if it fails.
    pub(crate) fn run(&self) -> Result<()> {
        // Cargo names itself to what it runs, so that a nested call uses the same toolchain.
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(&self.arguments)
            .envs(self.variables.iter().copied())
            .current_dir(xtask::walk::root())
            .status()
            .with_context(|| format!("cannot start `{self}`"))?;
        if !status.success() {
            bail!("`{self}` ended with {status}");
        }
        Ok(())
    }
}

impl fmt::Display for Invocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.variables {
            write!(formatter, "{name}=\"{value}\" ")?;
        }
        write!(formatter, "cargo {}", self.arguments.join(" "))
    }
}
