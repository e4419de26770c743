//! `FakeModel`: the fake model server as a process, for tasks that try out other programs against it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

/// A running fake model server; stopped when dropped.
pub(crate) struct FakeModel {
    process: Child,
    url: String,
}

impl FakeModel {
    /// Starts the server as it is compiled for tests, which has to be built.
    pub(crate) fn start(arguments: &[&str]) -> Result<Self> {
        Self::start_program(&target_dir().join("debug/rheon-fake-model"), arguments)
    }

    /// Starts the server at this path.
    pub(crate) fn start_program(program: &Path, arguments: &[&str]) -> Result<Self> {
        let mut process = Command::new(program)
            .arg("--until-stdin-closes")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let mut line = String::new();
        if let Some(output) = process.stdout.take() {
            // Kept open: the server says a line for every request.
            let mut output = BufReader::new(output);
            output.read_line(&mut line).context("cannot read the address of the fake model")?;
            std::thread::spawn(move || output.lines().map_while(Result::ok).count());
        }
        let url = line.split_whitespace().find_map(|word| word.strip_prefix("ANTHROPIC_BASE_URL="));
        let url = url.unwrap_or_default().to_owned();
        let model = Self { process, url };
        ensure!(!model.url.is_empty(), "the fake model did not say its address, but: {line:?}");
        Ok(model)
    }

    /// Its address, for clients of Anthropic's service.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        if let Err(error) = self.process.wait() {
            eprintln!("cannot stop the fake model (process {}): {error}", self.process.id());
        }
    }
}

/// Where cargo puts what it builds.
pub(crate) fn target_dir() -> PathBuf {
    let root = xtask::walk::root();
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |named| root.join(named))
}
