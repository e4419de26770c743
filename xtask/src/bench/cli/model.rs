//! `Model`: the fake model server, which answers at once, in a process of its own.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

/// A running server; stopped when dropped.
#[derive(Debug)]
pub(super) struct Model {
    process: Child,
    pub(super) url: String,
}

impl Model {
    /// Starts the server `program`, which does what `script` says.
    pub(super) fn start(program: &Path, script: &Path) -> Result<Self> {
        let mut process = Command::new(program)
            .arg("--until-stdin-closes")
            .arg("--script")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let mut line = String::new();
        if let Some(output) = process.stdout.take() {
            let mut output = BufReader::new(output);
            output.read_line(&mut line).context("cannot read the address of the fake model")?;
            // Kept open: the server says a line for every request.
            std::thread::spawn(move || output.lines().map_while(Result::ok).count());
        }
        let url = line.split_whitespace().find_map(|word| word.strip_prefix("ANTHROPIC_BASE_URL="));
        let model = Self { process, url: url.unwrap_or_default().to_owned() };
        ensure!(!model.url.is_empty(), "the fake model did not say its address, but: {line:?}");
        Ok(model)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        if let Err(error) = self.process.wait() {
            eprintln!("cannot stop the fake model (process {}): {error}", self.process.id());
        }
    }
}
