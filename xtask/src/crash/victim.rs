//! `Victim`: the program that is killed, and `Verifier`: the same program when it checks.

use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::command::Invocation;

/// The program that is killed, and the folder where that happens.
pub(crate) struct Victim {
    program: PathBuf,
    folder: PathBuf,
}

impl Victim {
    /// Builds the program.
    pub(crate) fn build() -> Result<Self> {
        Invocation::new("build --locked -p rheon --example crash_victim").run()?;
        let root = xtask::walk::root();
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| root.join("target"), |named| root.join(named));
        let folder = target.join("crash");
        Ok(Self { program: target.join("debug/examples/crash_victim"), folder })
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// An empty folder for one part.
    pub(crate) fn folder(&self, part: &str) -> Result<PathBuf> {
        let folder = self.folder.join(part);
        empty(&folder)?;
        Ok(folder)
    }

    /// An empty folder in memory for one part, where there is one.
    pub(crate) fn folder_in_memory(&self, part: &str) -> Result<PathBuf> {
        let memory = Path::new("/dev/shm");
        if !memory.is_dir() {
            return self.folder(part);
        }
        let folder = memory.join(format!("rheon-crash-{}-{part}", std::process::id()));
        empty(&folder)?;
        Ok(folder)
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

/// A stage in `folder`, with the folder of its store.
pub(crate) fn stage(folder: &Path, name: &str) -> Result<String> {
    let stage = folder.join(name);
    std::fs::create_dir_all(stage.join("store")).context("cannot make a stage")?;
    Ok(stage.display().to_string())
}

/// Makes `folder` a folder with nothing in it.
pub(crate) fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
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
