//! `Git`: the real `git`, run so that a repository cannot make it run programs, ask or wait.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

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

/// The variables that git is given; it sees no others of the program's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitEnvironment {
    /// `PATH`, where git is looked for too: in absolute directories only.
    pub path: Option<OsString>,
    /// `HOME`, where the user's settings of git are.
    pub home: Option<OsString>,
    /// `XDG_CONFIG_HOME`, the same.
    pub config_home: Option<OsString>,
}

/// The first `git` in an absolute directory of `PATH`, as it is run in a directory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Git<'a> {
    pub(super) dir: &'a Path,
    pub(super) environment: &'a GitEnvironment,
    pub(super) time_max: Duration,
    /// Settings that override all files.
    pub(super) settings: &'a [(String, String)],
}

/// What git printed, and its exit code.
pub(super) struct GitOutput {
    pub(super) code: Option<i32>,
    pub(super) output: Vec<u8>,
    pub(super) errors: Vec<u8>,
    pub(super) is_cut: bool,
}

/// Why git failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum GitError {
    #[error("git is not installed")]
    Missing,
    #[error("cannot run git: {0}")]
    Unstarted(io::Error),
    #[error("cannot read the output of git: {0}")]
    Unheard(io::Error),
    #[error("git did not answer within {} ms", .0.as_millis())]
    Slow(Duration),
}

impl Git<'_> {
    /// Runs git to its end.
    pub(super) async fn run(&self, arguments: &[&str]) -> Result<GitOutput, GitError> {
        let program = program(self.environment).ok_or(GitError::Missing)?;
        let mut child = self.command(&program, arguments).spawn().map_err(GitError::Unstarted)?;
        match tokio::time::timeout(self.time_max, listen(&mut child)).await {
            Ok(said) => said.map_err(GitError::Unheard),
            Err(_) => {
                end(&child);
                Err(GitError::Slow(self.time_max))
            }
        }
    }

    /// git with nothing of the program's own variables but those it needs.
    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(QUIET).args(arguments).current_dir(self.dir).env_clear();
        let GitEnvironment { path, home, config_home } = self.environment;
        for (name, value) in [("PATH", path), ("HOME", home), ("XDG_CONFIG_HOME", config_home)] {
            command.envs(value.as_ref().map(|value| (name, value)));
        }
        command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_PAGER", "cat");
        // Missing objects of a partial clone are not fetched: the repository would decide how.
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

async fn listen(child: &mut Child) -> io::Result<GitOutput> {
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    let (output, errors) = tokio::join!(beginning(output), beginning(errors));
    let ((output, is_cut), (errors, _)) = (output?, errors?);
    if is_cut {
        // It may still have unread output.
        end(child);
    }
    let status = child.wait().await?;
    Ok(GitOutput { code: status.code(), output, errors, is_cut })
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
        // A process that ended by itself need not be killed.
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
    }
    #[cfg(not(unix))]
    let _ = child;
}

fn program(environment: &GitEnvironment) -> Option<PathBuf> {
    let dirs = std::env::split_paths(environment.path.as_ref()?).filter(|dir| dir.is_absolute());
    let name = if cfg!(windows) { "git.exe" } else { "git" };
    dirs.map(|dir| dir.join(name)).find(|path| path.is_file())
}
