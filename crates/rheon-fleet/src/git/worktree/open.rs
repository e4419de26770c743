//! `Worktree`: the working tree that a session has for itself, from its beginning to its end.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::ended::{Ended, Stays, Why};
use super::error::WorktreeError;
use super::judge::{Beginning, Fate, beginning, fate};
use super::name::WorktreeName;
use super::place::relative;
use super::repository::Repository;
use super::request::WorktreeRequest;

/// Held by every session that works in a worktree, so that none removes it under another.
const LOCK: &str = "rheon.lock";

/// The working tree that a session has for itself.
#[derive(Debug)]
pub struct Worktree {
    repository: Repository,
    name: WorktreeName,
    path: PathBuf,
    working_folder: PathBuf,
    /// Where the user is.
    user_folder: PathBuf,
    lock: File,
}

impl Worktree {
    /// Makes the worktree that is asked for, or opens it if it is there.
    pub async fn open(request: WorktreeRequest) -> Result<Self, WorktreeError> {
        let WorktreeRequest { environment, from, name, within, user_folder } = request;
        let repository = Repository::around(&from, environment).await?;
        let path = repository.root.join(relative(&name));
        let branch = name.branch();
        match beginning(repository.folder(&path).await?, repository.branch(&branch).await?) {
            Beginning::Make => {
                repository.exclude()?;
                repository.add(&name, &path).await?;
            }
            Beginning::GoOn => {}
            Beginning::BranchTaken => return Err(WorktreeError::BranchTaken { branch }),
            Beginning::NotOurs => return Err(WorktreeError::NotOurs(path)),
        }
        let lock = repository.own_folder(&path).await?.join(LOCK);
        let lock = held(&lock).map_err(|source| WorktreeError::Io { action: "lock", path: lock, source })?;
        let within = path.join(within.as_deref().unwrap_or(&repository.within));
        // Without the slash that joining nothing leaves.
        let within: PathBuf = within.components().collect();
        let working_folder = if within.is_dir() { within } else { path.clone() };
        Ok(Self { repository, name, path, working_folder, user_folder, lock })
    }

    /// Where in it the session works: where the user is in the repository, if that is committed.
    pub fn working_folder(&self) -> &Path {
        &self.working_folder
    }

    /// The folder of the repository that it belongs to.
    pub fn repository_folder(&self) -> &Path {
        &self.repository.root
    }

    /// Removes it if nothing was changed and nothing committed; otherwise it stays, to be told of.
    pub async fn end(self) -> Ended {
        let own = self.name.branch();
        match self.try_end(&own).await {
            Ok(()) => Ended::Removed,
            Err(why) => Ended::Stays(Stays { path: self.path, own, why }),
        }
    }

    async fn try_end(&self, own: &str) -> Result<(), Why> {
        let standing = self.repository.standing(&self.path, own).await.map_err(Why::Unknown)?;
        match fate(&standing, own) {
            Fate::Stays => return Err(Why::Has(standing)),
            Fate::Goes => {}
        }
        if self.user_folder.starts_with(&self.path) {
            return Err(Why::UserIsThere);
        }
        if flock(&self.lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(Why::InUse);
        }
        self.repository.remove(&self.name, &self.path).await.map_err(Why::Unknown)
    }
}

fn held(path: &Path) -> std::io::Result<File> {
    let lock = File::options().create(true).append(true).open(path)?;
    flock(&lock, FlockOperation::LockShared)?;
    Ok(lock)
}
