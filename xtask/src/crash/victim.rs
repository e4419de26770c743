//! `Victim`: the program that is killed, and `Verifier`: the same program when it checks.

use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::command::Invocation;

/// The program that is killed, and the directory where that happens.
pub(crate) struct Victim {
    program: PathBuf,
    dir: PathBuf,
}

impl Victim {
    /// Builds the program.
    pub(crate) fn build() -> Result<Self> {
        Invocation::new("build --locked -p rheon --example crash_victim").run()?;
        let root = xtask::walk::root();
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| root.join("target"), |named| root.join(named));
        let dir = target.join("crash");
        Ok(Self { program: target.join("debug/examples/crash_victim"), dir })
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// An empty directory for one part.
    pub(crate) fn dir(&self, part: &str) -> Result<PathBuf> {
        let dir = self.dir.join(part);
        empty(&dir)?;
        Ok(dir)
    }

    /// An empty directory in memory for one part, where there is one.
    pub(crate) fn dir_in_memory(&self, part: &str) -> Result<PathBuf> {
        let memory = Path::new("/dev/shm");
        if !memory.is_dir() {
            return self.dir(part);
        }
        let dir = memory.join(format!("rheon-crash-{}-{part}", std::process::id()));
        empty(&dir)?;
        Ok(dir)
    }

    /// The program with these arguments, silent.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Runs the program to its end; what it prints.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<String> {
        let output =
            Command::new(&self.program).args(arguments).output().context("cannot start the victim")?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            bail!("`crash_victim {}` ended with {}: {errors}", arguments.join(" "), output.status);
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
    }

    /// Starts the program to check what is left.
    pub(crate) fn verifier(&self) -> Result<Verifier> {
        let mut process = Command::new(&self.program)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the verifier")?;
        let input = process.stdin.take().context("no input")?;
        let output = BufReader::new(process.stdout.take().context("no output")?);
        Ok(Verifier { process, input: Some(input), output })
    }
}

/// A stage in `dir`, with the directory of its store.
pub(crate) fn stage(dir: &Path, name: &str) -> Result<String> {
    let stage = dir.join(name);
    std::fs::create_dir_all(stage.join("store")).context("cannot make a stage")?;
    Ok(stage.display().to_string())
}

/// Makes `dir` a directory with nothing in it.
pub(crate) fn empty(dir: &Path) -> Result<()> {
    if dir.exists() {
        std::fs::remove_dir_all(dir).with_context(|| format!("cannot empty {}", dir.display()))?;
    }
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))
}

/// A running program that checks.
pub(crate) struct Verifier {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Verifier {
    /// Asks; what was found, or an error that says what is wrong.
    pub(crate) fn ask(&mut self, order: &str) -> Result<String> {
        let input = self.input.as_mut().context("the verifier is closed")?;
        writeln!(input, "{order}").context("the verifier is gone")?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        match answer.trim_end().split_once(' ') {
            Some(("ok", found)) => Ok(found.to_owned()),
            Some((_, problem)) => bail!("{problem}"),
            None => bail!("the verifier ended without an answer to `{order}`"),
        }
    }
}

impl Drop for Verifier {
    fn drop(&mut self) {
        drop(self.input.take());
        if let Err(error) = self.process.wait() {
            eprintln!("cannot stop the verifier: {error}");
        }
    }
}
