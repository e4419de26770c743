//! `Repository`: the git commands for worktrees.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rheon_text::visible;
use rustix::fs::{FlockOperation, flock};

use super::decide::{Branch, Directory, WorktreeStatus};
use super::error::WorktreeError;
use super::name::WorktreeName;
use super::place::{DIR, relative};
use crate::git::program::{Git, GitEnvironment, GitError, GitOutput};

/// How long git may take: to check out a large repository takes minutes.
const TIME_MAX: Duration = Duration::from_secs(600);
/// How many characters of git's error message are shown.
const SAID_CHARS_MAX: usize = 300;
/// How many commits are counted.
const COMMITS_MAX: &str = "--max-count=1000";
/// The most bytes of the list of what git is to leave out.
const EXCLUDE_BYTES_MAX: u64 = 1024 * 1024;

/// The file in git's directory that sessions lock while they add or remove a worktree.
const TURN: &str = "rheon-worktrees.lock";

/// A repository that worktrees can be made of.
#[derive(Debug)]
pub(super) struct Repository {
    environment: GitEnvironment,
    /// The directory in which its worktrees are.
    pub(super) root: PathBuf,
    common: PathBuf,
    /// Where in the working tree the user is.
    pub(super) within: PathBuf,
    /// The commit that is checked out where the user is.
    head: String,
}

impl Repository {
    /// The one around `dir`.
    pub(super) async fn around(dir: &Path, environment: GitEnvironment) -> Result<Self, WorktreeError> {
        let asking = Asking { environment: &environment, settings: &[] };
        let kind = asking.ask(dir, &["rev-parse", "--is-bare-repository", "--is-inside-work-tree"]).await?;
        if kind.code != Some(0) {
            let is_none = String::from_utf8_lossy(&kind.errors).contains("not a git repository");
            return Err(match is_none {
                true => WorktreeError::NoRepository(dir.to_owned()),
                false => WorktreeError::Git(complaint(&kind)),
            });
        }
        if kind.output != b"false\ntrue\n" {
            return Err(WorktreeError::Bare(dir.to_owned()));
        }
        let common = asking.path(dir, COMMON).await?;
        let top = asking.path(dir, TOP).await?;
        let root = match common.parent() {
            Some(parent) if common.ends_with(".git") => parent.to_owned(),
            // A submodule, or a repository that is bare but for its worktrees.
            Some(_) | None => top.clone(),
        };
        let head = asking.ask(dir, &HEAD).await?;
        if head.code != Some(0) {
            return Err(WorktreeError::NoCommit(root));
        }
        let head = String::from_utf8_lossy(&head.output).trim().to_owned();
        let within = dir.strip_prefix(&top).map(Path::to_owned).unwrap_or_default();
        Ok(Self { environment, root, common, within, head })
    }

    /// What is where the worktree belongs.
    pub(super) async fn dir(&self, path: &Path) -> Result<Directory, WorktreeError> {
        let entry = match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Directory::Free),
            Err(source) => {
                return Err(WorktreeError::Io { action: "look at", path: path.to_owned(), source });
            }
            Ok(entry) => entry,
        };
        if !entry.is_dir() {
            return Ok(Directory::Foreign);
        }
        if fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()) {
            return Ok(Directory::Free);
        }
        let asking = self.asking();
        let is_ours = asking.path(path, TOP).await.is_ok_and(|top| top == path)
            && asking.path(path, COMMON).await.is_ok_and(|common| common == self.common);
        Ok(if is_ours { Directory::Ours } else { Directory::Foreign })
    }

    /// Whether there is such a branch.
    pub(super) async fn branch(&self, branch: &str) -> Result<Branch, WorktreeError> {
        let reference = format!("refs/heads/{branch}");
        let said = self.asking().ask(&self.root, &["show-ref", "--verify", "--quiet", &reference]).await?;
        Ok(if said.code == Some(0) { Branch::Taken } else { Branch::Free })
    }

    /// Makes a worktree with a branch of its own and no files; [`Self::check_out`] adds them.
    pub(super) async fn add(&self, name: &WorktreeName) -> Result<(), WorktreeError> {
        let dir = self.root.join(DIR);
        for part in [".rheon", DIR] {
            // The content of a repository must not decide where else files are created.
            let part = self.root.join(part);
            if part.is_symlink() {
                return Err(WorktreeError::LeadsElsewhere(part));
            }
        }
        fs::create_dir_all(&dir).map_err(|source| WorktreeError::Io { action: "make", path: dir, source })?;
        let (relative, branch) = (relative(name), name.branch());
        // Files come second: their filters are only known at their final path.
        let add = [
            "worktree",
            "add",
            "--quiet",
            "--no-checkout",
            "--no-track",
            "-b",
            &branch,
            &relative,
            &self.head,
        ];
        let mut added = self.asking().once(&self.root, &add).await?;
        for _ in 0..TRIES_MAX {
            if !is_half_made(&added) {
                break;
            }
            // git creates the branch before it looks at the other worktrees, and leaves it behind when it fails.
            self.forget(&branch, &self.head).await.ok();
            added = self.asking().once(&self.root, &add).await?;
        }
        if added.code == Some(0) { Ok(()) } else { Err(WorktreeError::Git(complaint(&added))) }
    }

    /// Checks out the files of a worktree that was just added.
    pub(super) async fn check_out(&self, name: &WorktreeName, path: &Path) -> Result<(), WorktreeError> {
        let settings = self.filters_off(path).await;
        let asking = Asking { environment: &self.environment, settings: &settings };
        if let Err(problem) = asking.done(path, &["reset", "--quiet", "--hard"]).await {
            // Half a worktree is useless. The error was already reported.
            let _turn = self.turn().await?;
            asking.done(&self.root, &["worktree", "remove", "--force", &relative(name)]).await.ok();
            self.forget(&name.branch(), &self.head).await.ok();
            return Err(WorktreeError::Git(problem));
        }
        Ok(())
    }

    /// The directory that git keeps for one worktree alone.
    pub(super) async fn own_dir(&self, path: &Path) -> Result<PathBuf, WorktreeError> {
        self.asking().path(path, OWN).await
    }

    /// The state of a worktree whose own branch is `own`.
    pub(super) async fn status(&self, path: &Path, own: &str) -> Result<WorktreeStatus, String> {
        let settings = self.filters_off(path).await;
        let asking = Asking { environment: &self.environment, settings: &settings };
        let status = asking.done(path, &STATUS).await?;
        let changed = status.output.split(|byte| *byte == 0).filter(|record| !record.is_empty()).count();
        let branch = asking.ask(path, &["symbolic-ref", "--quiet", "HEAD"]).await.map_err(text)?;
        let branch = String::from_utf8_lossy(&branch.output).trim().to_owned();
        let branch = branch.strip_prefix("refs/heads/").map(str::to_owned);
        let base = asking.ask(&self.root, &HEAD).await.map_err(text)?;
        let base = String::from_utf8_lossy(&base.output).trim().to_owned();
        let exclude = format!("--exclude={own}");
        let mut count = vec!["rev-list", "--count", COMMITS_MAX, "HEAD", "--not", &exclude, "--branches"];
        count.extend(["--remotes", "--tags"]);
        count.extend(Some(base.as_str()).filter(|base| !base.is_empty()));
        let commits = asking.done(path, &count).await?;
        let commits = String::from_utf8_lossy(&commits.output).trim().parse();
        let commits = commits.map_err(|_| "cannot read the commits of the worktree".to_owned())?;
        Ok(WorktreeStatus { branch, changed, commits })
    }

    /// Removes a worktree with its branch, if nothing was done in it meanwhile.
    pub(super) async fn remove(&self, name: &WorktreeName, path: &Path) -> Result<(), String> {
        let settings = self.filters_off(path).await;
        let asking = Asking { environment: &self.environment, settings: &settings };
        let tip = asking.done(path, &HEAD).await?;
        let tip = String::from_utf8_lossy(&tip.output).trim().to_owned();
        asking.done(&self.root, &["worktree", "remove", &relative(name)]).await?;
        self.forget(&name.branch(), &tip).await?;
        // Only if they are empty: other worktrees may be there.
        for dir in [DIR, ".rheon"] {
            fs::remove_dir(self.root.join(dir)).ok();
        }
        Ok(())
    }

    /// Waits until no other session adds or removes a worktree, and keeps others waiting until it is dropped:
    /// git reads every worktree and branch, and fails on one that is half made.
    pub(super) async fn turn(&self) -> Result<File, WorktreeError> {
        let path = self.common.join(TURN);
        let take = {
            let path = path.clone();
            move || {
                let file = File::options().create(true).append(true).open(path)?;
                flock(&file, FlockOperation::LockExclusive)?;
                Ok::<File, io::Error>(file)
            }
        };
        let taken =
            tokio::task::spawn_blocking(take).await.unwrap_or_else(|gone| Err(io::Error::other(gone)));
        taken.map_err(|source| WorktreeError::Io { action: "lock", path, source })
    }

    /// Removes a branch that is still at `tip`.
    async fn forget(&self, branch: &str, tip: &str) -> Result<(), String> {
        let reference = format!("refs/heads/{branch}");
        self.asking().done(&self.root, &["update-ref", "-d", &reference, tip]).await.map(drop)
    }

    /// Keeps worktrees out of `git status`, in a list of the repository that is not committed.
    pub(super) fn exclude(&self) -> Result<(), WorktreeError> {
        let file = self.common.join("info/exclude");
        let line = format!("/{DIR}/");
        exclude(&self.common, &file, &line).map_err(|source| WorktreeError::Io {
            action: "write to",
            path: file,
            source,
        })
    }

    /// Settings that turn off what the repository itself would run on every file. What the user configured for all repositories stays.
    async fn filters_off(&self, dir: &Path) -> Vec<(String, String)> {
        const LIST: [&str; 6] =
            ["config", "--show-scope", "--null", "--name-only", "--get-regexp", r"^filter\."];
        match self.asking().ask(dir, &LIST).await {
            Ok(said) => filters(&String::from_utf8_lossy(&said.output)),
            Err(_) => Vec::new(),
        }
    }

    fn asking(&self) -> Asking<'_> {
        Asking { environment: &self.environment, settings: &[] }
    }
}

const COMMON: &str = "--git-common-dir";
const TOP: &str = "--show-toplevel";
const OWN: &str = "--git-dir";
const HEAD: [&str; 4] = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
const STATUS: [&str; 6] =
    ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=all"];

/// git with fixed settings.
struct Asking<'a> {
    environment: &'a GitEnvironment,
    settings: &'a [(String, String)],
}

impl Asking<'_> {
    /// Asks git, again while another process is making a worktree.
    async fn ask(&self, dir: &Path, arguments: &[&str]) -> Result<GitOutput, WorktreeError> {
        let mut said = self.once(dir, arguments).await?;
        for _ in 0..TRIES_MAX {
            if !is_half_made(&said) {
                break;
            }
            said = self.once(dir, arguments).await?;
        }
        Ok(said)
    }

    async fn once(&self, dir: &Path, arguments: &[&str]) -> Result<GitOutput, WorktreeError> {
        let Self { environment, settings } = *self;
        let git = Git { dir, environment, time_max: TIME_MAX, settings };
        git.run(arguments).await.map_err(|trouble| match trouble {
            GitError::Missing => WorktreeError::NoGit,
            GitError::Unstarted(_) | GitError::Unheard(_) | GitError::Slow(_) => {
                WorktreeError::Git(trouble.to_string())
            }
        })
    }

    /// The output of git if it succeeded; otherwise why it failed.
    async fn done(&self, dir: &Path, arguments: &[&str]) -> Result<GitOutput, String> {
        let said = self.ask(dir, arguments).await.map_err(text)?;
        if said.code == Some(0) { Ok(said) } else { Err(complaint(&said)) }
    }

    /// A path that `git rev-parse` knows, by its real name.
    async fn path(&self, dir: &Path, question: &str) -> Result<PathBuf, WorktreeError> {
        let arguments = ["rev-parse", "--path-format=absolute", question];
        let mut output = self.done(dir, &arguments).await.map_err(WorktreeError::Git)?.output;
        if output.last() == Some(&b'\n') {
            output.pop();
        }
        let path = PathBuf::from(os_string(output));
        path.canonicalize().map_err(|source| WorktreeError::Io { action: "find", path, source })
    }
}

/// How often git is retried while another process creates a worktree.
const TRIES_MAX: usize = 20;

/// Whether git found a worktree that another process is making at this moment: it reads all of them before it does anything.
fn is_half_made(said: &GitOutput) -> bool {
    let errors = String::from_utf8_lossy(&said.errors);
    said.code != Some(0) && errors.contains("failed to read") && errors.contains("/worktrees/")
}

#[cfg(unix)]
fn os_string(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// An error as part of a longer sentence.
fn text(error: WorktreeError) -> String {
    match error {
        WorktreeError::Git(problem) => problem,
        other => other.to_string(),
    }
}

/// What git complains of, in one line.
fn complaint(said: &GitOutput) -> String {
    let errors = String::from_utf8_lossy(&said.errors);
    let line = errors.lines().find(|line| !line.trim().is_empty()).unwrap_or("no error message");
    format!("git fails: {}", visible(&line.chars().take(SAID_CHARS_MAX).collect::<String>()))
}

/// Settings that turn off the filters in a list of scopes and keys which the repository itself configures.
fn filters(list: &str) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    let mut words = list.split('\0');
    while let (Some(scope), Some(key)) = (words.next(), words.next()) {
        let Some((filter, _)) = key.rsplit_once('.') else { continue };
        if scope == "local" || scope == "worktree" {
            let off = [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];
            settings.extend(off.map(|(what, value)| (format!("{filter}.{what}"), value.to_owned())));
        }
    }
    settings.sort();
    settings.dedup();
    settings
}

/// Adds `line` to `file`, which must be within `dir`, unless it is there.
fn exclude(dir: &Path, file: &Path, line: &str) -> io::Result<()> {
    let around = file.parent().unwrap_or(dir);
    fs::create_dir_all(around)?;
    let is_link = file.symlink_metadata().is_ok_and(|entry| !entry.is_file());
    if is_link || !around.canonicalize()?.starts_with(dir) {
        return Err(io::Error::other("it is a symlink; remove it"));
    }
    let bytes = match file.metadata() {
        Ok(entry) if entry.len() > EXCLUDE_BYTES_MAX => return Err(io::ErrorKind::FileTooLarge.into()),
        Ok(_) => fs::read(file)?,
        Err(_) => Vec::new(),
    };
    if String::from_utf8_lossy(&bytes).lines().any(|found| found.trim_end() == line) {
        return Ok(());
    }
    let before = if bytes.last().is_some_and(|byte| *byte != b'\n') { "\n" } else { "" };
    // In one piece, as other sessions may be about to do the same.
    let mut file = fs::OpenOptions::new().append(true).create(true).open(file)?;
    file.write_all(format!("{before}{line}\n").as_bytes())
}

#[cfg(test)]
#[path = "repository_tests.rs"]
mod tests;
