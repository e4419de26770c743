//! `GitState`: how the repository stands, asked of the real `git`, which is given little time and believed little.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rheon_tools::policy::visible;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use crate::git_head::{self, Head};
use crate::keeping::Environment;

/// How much of the repository is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitQuestion {
    /// The branch only. Nothing that the repository configures is run.
    Branch,
    /// The branch and what changed. Filters that the repository configures may run, so **only for one that the user trusts**.
    Status,
}

/// How a repository stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitState {
    /// The folder is in no repository.
    NoRepository,
    /// It is not known, for this reason.
    Unknown(String),
    /// It is on a branch.
    Branch {
        /// Its name.
        branch: String,
        /// What changed; none if that was not asked for.
        changes: Option<GitChanges>,
    },
}

/// What is not committed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitChanges {
    /// The branch that this one follows, with how far ahead and behind it is.
    pub upstream: Option<(String, u64, u64)>,
    /// How many files differ from the last commit.
    pub changed: usize,
    /// How many files or folders git does not know.
    pub untracked: usize,
    /// How many files two sides changed.
    pub conflicts: usize,
    /// Whether there was more than is read.
    pub is_cut: bool,
}

/// How long git may take, unless somebody says otherwise.
pub const GIT_TIME_MAX: Duration = Duration::from_secs(2);
/// How much it may say.
const OUTPUT_BYTES_MAX: u64 = 256 * 1024;
const NAME_CHARS_MAX: usize = 200;

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
const BRANCH: [&str; 4] = ["symbolic-ref", "--quiet", "--short", "HEAD"];
// Submodules have settings of their own, which ours do not reach.
const STATUS: [&str; 5] = ["status", "--porcelain=v2", "--branch", "-z", "--ignore-submodules=all"];

impl GitState {
    /// How the repository around `folder` stands. The branch alone is read from its files where they say it plainly; otherwise the
    /// program is asked, the first `git` in an absolute folder of `PATH`.
    /// What takes longer than `time_max` is ended.
    pub async fn ask(
        folder: &Path,
        environment: &Environment,
        question: GitQuestion,
        time_max: Duration,
    ) -> Self {
        let has_repository = folder.ancestors().any(|folder| folder.join(".git").symlink_metadata().is_ok());
        if !has_repository {
            return Self::NoRepository;
        }
        if let (GitQuestion::Branch, Some(head)) = (question, git_head::read(folder)) {
            let branch = match head {
                Head::Branch(branch) => short(&branch),
                Head::Commit => DETACHED.to_owned(),
            };
            return Self::Branch { branch, changes: None };
        }
        let Some(program) = program(environment) else { return Self::Unknown("git is not installed".into()) };
        let arguments: &[&str] = match question {
            GitQuestion::Branch => &BRANCH,
            GitQuestion::Status => &STATUS,
        };
        let mut command = command(&program, folder, environment, arguments);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return Self::Unknown(format!("git cannot be run: {error}")),
        };
        let said = tokio::time::timeout(time_max, listen(&mut child)).await;
        match said {
            Ok(Ok(said)) => read(&said, question),
            Ok(Err(error)) => Self::Unknown(format!("git cannot be heard: {error}")),
            Err(_) => {
                end(&child);
                Self::Unknown(format!("git did not answer within {} ms", time_max.as_millis()))
            }
        }
    }
}

/// git with nothing of the program's own variables but those it needs.
fn command(program: &Path, folder: &Path, environment: &Environment, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(QUIET).args(arguments).current_dir(folder).env_clear();
    for name in ["PATH", "HOME", "XDG_CONFIG_HOME"] {
        command.envs(environment.get(name).map(|value| (name, value)));
    }
    command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_PAGER", "cat");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    command
}

/// What git said.
struct Said {
    code: Option<i32>,
    output: Vec<u8>,
    errors: Vec<u8>,
    is_cut: bool,
}

async fn listen(child: &mut Child) -> std::io::Result<Said> {
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

async fn beginning(pipe: Option<impl AsyncRead + Unpin>) -> std::io::Result<(Vec<u8>, bool)> {
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

fn read(said: &Said, question: GitQuestion) -> GitState {
    match (question, said.code) {
        (GitQuestion::Branch, Some(0)) => {
            let branch = short(String::from_utf8_lossy(&said.output).trim());
            GitState::Branch { branch, changes: None }
        }
        (GitQuestion::Branch, Some(1)) => GitState::Branch { branch: DETACHED.into(), changes: None },
        (GitQuestion::Status, code) if code == Some(0) || said.is_cut => status(said),
        (GitQuestion::Branch | GitQuestion::Status, _) => {
            let errors = String::from_utf8_lossy(&said.errors);
            let why = errors.lines().next().unwrap_or("it says nothing");
            GitState::Unknown(format!("git fails: {}", short(why)))
        }
    }
}

const DETACHED: &str = "(none, a commit is checked out)";

fn status(said: &Said) -> GitState {
    let output = String::from_utf8_lossy(&said.output);
    let mut branch = "?".to_owned();
    let mut upstream = None;
    let mut counts = (0, 0);
    let mut changes = GitChanges { is_cut: said.is_cut, ..GitChanges::default() };
    let mut records = output.split('\0');
    while let Some(record) = records.next() {
        match record.split_once(' ') {
            Some(("#", header)) => match header.split_once(' ') {
                Some(("branch.head", "(detached)")) => branch = DETACHED.to_owned(),
                Some(("branch.head", name)) => branch = short(name),
                Some(("branch.upstream", name)) => upstream = Some(short(name)),
                Some(("branch.ab", both)) => counts = ahead_behind(both),
                Some(_) | None => {}
            },
            Some(("1", _)) => changes.changed += 1,
            Some(("2", _)) => {
                changes.changed += 1;
                // Where it was before it was renamed.
                records.next();
            }
            Some(("u", _)) => changes.conflicts += 1,
            Some(("?", _)) => changes.untracked += 1,
            Some(_) | None => {}
        }
    }
    changes.upstream = upstream.map(|name| (name, counts.0, counts.1));
    GitState::Branch { branch, changes: Some(changes) }
}

/// `+1 -2` as figures.
fn ahead_behind(both: &str) -> (u64, u64) {
    let (ahead, behind) = both.split_once(' ').unwrap_or((both, ""));
    let figure = |text: &str| text.trim_start_matches(['+', '-']).parse().unwrap_or_default();
    (figure(ahead), figure(behind))
}

/// `text` on one line, with nothing hidden in it.
fn short(text: &str) -> String {
    visible(&text.chars().take(NAME_CHARS_MAX).collect::<String>())
}

impl fmt::Display for GitState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRepository => f.write_str("not a repository"),
            Self::Unknown(why) => write!(f, "unknown ({why})"),
            Self::Branch { branch, changes } => {
                write!(f, "branch {branch}")?;
                changes.as_ref().map_or(Ok(()), |changes| write!(f, "; {changes}"))
            }
        }
    }
}

impl fmt::Display for GitChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts =
            [(self.changed, "changed"), (self.untracked, "untracked"), (self.conflicts, "in conflict")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let words: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
        match (words.is_empty(), self.is_cut) {
            (true, _) => f.write_str("clean")?,
            (false, false) => f.write_str(&words.join(", "))?,
            (false, true) => write!(f, "more than {}", words.join(", "))?,
        }
        match &self.upstream {
            None | Some((_, 0, 0)) => Ok(()),
            Some((name, ahead, behind)) => write!(f, "; {ahead} ahead of and {behind} behind {name}"),
        }
    }
}

#[cfg(test)]
#[path = "git_tests.rs"]
mod tests;
