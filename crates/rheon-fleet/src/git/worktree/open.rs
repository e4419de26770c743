//! `Worktree`: the git worktree of one session, from opening to cleanup.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::decide::{Cleanup, WorktreeAction, action, cleanup};
use super::error::WorktreeError;
use super::name::WorktreeName;
use super::outcome::{KeepReason, RemainingWorktree, WorktreeOutcome};
use super::place::relative;
use super::repository::Repository;
use crate::git::program::GitEnvironment;

/// Every session in a worktree holds this lock, so that no session removes it while another uses it.
const LOCK: &str = "rheon.lock";

/// The worktree that a session should use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeRequest {
    pub environment: GitEnvironment,
    /// A directory of the repository.
    pub from: PathBuf,
    pub name: WorktreeName,
    /// The working directory within the worktree; by default the position of `from` in its own working tree.
    pub within: Option<PathBuf>,
    /// The user's current directory: a worktree that contains it is not removed.
    pub user_dir: PathBuf,
}

/// The git worktree of one session.
#[derive(Debug)]
pub struct Worktree {
    repository: Repository,
    name: WorktreeName,
    path: PathBuf,
    working_dir: PathBuf,
    /// The user's current directory.
    user_dir: PathBuf,
    lock: File,
}

impl Worktree {
    /// Creates the requested worktree, or opens it if it exists.
    pub async fn open(request: WorktreeRequest) -> Result<Self, WorktreeError> {
        let WorktreeRequest { environment, from, name, within, user_dir } = request;
        let repository = Repository::around(&from, environment).await?;
        let path = repository.root.join(relative(&name));
        let branch = name.branch();
        let turn = repository.turn().await?;
        let action = action(repository.dir(&path).await?, repository.branch(&branch).await?);
        match action {
            WorktreeAction::Create => {
                repository.exclude()?;
                repository.add(&name).await?;
            }
            WorktreeAction::Reuse => {}
            WorktreeAction::BranchTaken => return Err(WorktreeError::BranchTaken { branch }),
            WorktreeAction::NotOurs => return Err(WorktreeError::NotOurs(path)),
        }
        let lock = repository.own_dir(&path).await?.join(LOCK);
        let lock =
            lock_shared(&lock).map_err(|source| WorktreeError::Io { action: "lock", path: lock, source })?;
        // From here on the lock keeps others from removing the worktree: checking out may take minutes.
        drop(turn);
        if action == WorktreeAction::Create {
            repository.check_out(&name, &path).await?;
        }
        let within = path.join(within.as_deref().unwrap_or(&repository.within));
        // Removes the trailing slash that joining an empty path leaves.
        let within: PathBuf = within.components().collect();
        let working_dir = if within.is_dir() { within } else { path.clone() };
        Ok(Self { repository, name, path, working_dir, user_dir, lock })
    }

    /// The session's working directory: the user's current directory in the repository, if it is committed.
    pub fn working_dir(&self) -> &Path {
        &self.working_dir
    }

    /// The root directory of its repository.
    pub fn repository_dir(&self) -> &Path {
        &self.repository.root
    }

    /// Removes the worktree if nothing was changed or committed in it.
    pub async fn end(self) -> WorktreeOutcome {
        let own = self.name.branch();
        match self.try_end(&own).await {
            Ok(()) => WorktreeOutcome::Removed,
            Err(why) => WorktreeOutcome::Kept(RemainingWorktree { path: self.path, own, why }),
        }
    }

    async fn try_end(&self, own: &str) -> Result<(), KeepReason> {
        let _turn = self.repository.turn().await.map_err(|error| KeepReason::Failed(error.to_string()))?;
        let status = self.repository.status(&self.path, own).await.map_err(KeepReason::Failed)?;
        match cleanup(&status, own) {
            Cleanup::Keep => return Err(KeepReason::Changed(status)),
            Cleanup::Remove => {}
        }
        if self.user_dir.starts_with(&self.path) {
            return Err(KeepReason::CurrentDirectory);
        }
        if flock(&self.lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(KeepReason::InUse);
        }
        self.repository.remove(&self.name, &self.path).await.map_err(KeepReason::Failed)
    }
}

fn lock_shared(path: &Path) -> std::io::Result<File> {
    let lock = File::options().create(true).append(true).open(path)?;
    flock(&lock, FlockOperation::LockShared)?;
    Ok(lock)
}
