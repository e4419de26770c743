//! `Git`: the real `git`, run so that a repository cannot make it run programs, ask or wait.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use crate::keeping::Environment;

/// How much git may say.
const OUTPUT_BYTES_MAX: u64 = 256 * 1024;

/// Settings that keep a repository from running programs, and git from writing, asking or waiting.
const QUIET: [&str; 11] = [
    "--no-pager",
    "--no-optional-locks",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.quotePath=false",
];

/// The first `git` in an absolute folder of `PATH`, as it is run in a folder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Git<'a> {
    /// Where.
    pub(crate) folder: &'a Path,
    /// The variables of the program, of which git is given few.
    pub(crate) environment: &'a Environment,
    /// What takes longer is ended.
    pub(crate) time_max: Duration,
    /// Settings that go before those of all files.
    pub(crate) settings: &'a [(String, String)],
}

/// What git said.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) output: Vec<u8>,
    pub(crate) errors: Vec<u8>,
    pub(crate) is_cut: bool,
}

/// Why git said nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GitTrouble {
    #[error("git is not installed")]
    Missing,
    #[error("git cannot be run: {0}")]
    Unstarted(io::Error),
    #[error("git cannot be heard: {0}")]
    Unheard(io::Error),
    #[error("git did not answer within {} ms", .0.as_millis())]
    Slow(Duration),
}

impl Git<'_> {
    /// Runs git to its end.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Result<Said, GitTrouble> {
        let program = program(self.environment).ok_or(GitTrouble::Missing)?;
        let mut child = self.command(&program, arguments).spawn().map_err(GitTrouble::Unstarted)?;
        match tokio::time::timeout(self.time_max, listen(&mut child)).await {
            Ok(said) => said.map_err(GitTrouble::Unheard),
            Err(_) => {
                end(&child);
                Err(GitTrouble::Slow(self.time_max))
            }
        }
    }

    /// git with nothing of the program's own variables but those it needs.
    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(QUIET).args(arguments).current_dir(self.folder).env_clear();
        for name in ["PATH", "HOME", "XDG_CONFIG_HOME"] {
            command.envs(self.environment.get(name).map(|value| (name, value)));
        }
        command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_PAGER", "cat");
        // What is missing from a clone is not fetched: how that is done, the repository would say.
        command.env("GIT_ALLOW_PROTOCOL", "none");
        // Unlike arguments, these leave no doubt where a key ends.
        command.env("GIT_CONFIG_COUNT", self.settings.len().to_string());
        for (number, (key, value)) in self.settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{number}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        command
    }
}

async fn listen(child: &mut Child) -> io::Result<Said> {
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    let (output, errors) = tokio::join!(beginning(output), beginning(errors));
    let ((output, is_cut), (errors, _)) = (output?, errors?);
    if is_cut {
        // It may still have much to say to nobody.
        end(child);
    }
    let status = child.wait().await?;
    Ok(Said { code: status.code(), output, errors, is_cut })
}

async fn beginning(pipe: Option<impl AsyncRead + Unpin>) -> io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes).await?;
    }
    let is_cut = bytes.len() as u64 == OUTPUT_BYTES_MAX;
    Ok((bytes, is_cut))
}

/// Ends git and what it started; dropping the child alone would leave the latter.
fn end(child: &Child) {
    #[cfg(unix)]
    if let Some(pid) = child.id().and_then(|pid| i32::try_from(pid).ok())
        && let Some(group) = rustix::process::Pid::from_raw(pid)
    {
        // Whoever ended by itself need not be ended.
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
    }
    #[cfg(not(unix))]
    let _ = child;
}

fn program(environment: &Environment) -> Option<PathBuf> {
    let folders = std::env::split_paths(environment.get("PATH")?).filter(|folder| folder.is_absolute());
    let name = if cfg!(windows) { "git.exe" } else { "git" };
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}
