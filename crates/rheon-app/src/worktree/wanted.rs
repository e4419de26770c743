//! `Wanted`: which worktree a session is to work in.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rheon_types::protocol::SessionChoice;

use super::name::WorktreeName;
use super::place::{FOLDER, Place};
use crate::keeping::{Keeper, KeeperParts, KeepingSettings};
use crate::session::Surroundings;

/// How many worktrees are looked at for a session to go on with.
const LOOKED_AT_MAX: usize = 256;

/// Which worktree a session is to work in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// A folder of the repository.
    pub(super) from: PathBuf,
    pub(super) name: WorktreeName,
    /// Where in the worktree, if that is known.
    pub(super) within: Option<PathBuf>,
}

impl Wanted {
    /// The worktree `name` of the repository that the user is in.
    pub fn named(name: WorktreeName, surroundings: &Surroundings) -> Self {
        Self { from: surroundings.working_folder.clone(), name, within: None }
    }

    /// The worktree that the session worked in which is to be gone on with, if it had one: for the last session, one of this folder or of
    /// this folder in any worktree. None if the user is there: then it is a folder like any other.
    pub async fn of_session(surroundings: &Surroundings, choice: &SessionChoice) -> Option<Self> {
        let folder = match choice {
            SessionChoice::New { .. } => return None,
            SessionChoice::Named { id } | SessionChoice::ForkOf { id } => {
                keeper(surroundings)?.folder_of(id).await.ok()?
            }
            SessionChoice::Latest | SessionChoice::ForkOfLatest => {
                let folders = candidates(&surroundings.working_folder)?;
                keeper(surroundings)?.latest_folder(folders).await.ok()?
            }
        };
        let Place { root, name, within } = Place::of(&folder?)?;
        let is_there = Place::of(&surroundings.working_folder)
            .is_some_and(|place| place.root == root && place.name == name);
        (!is_there && root.is_dir()).then_some(Self { from: root, name, within: Some(within) })
    }
}

/// The folder itself, and what it is in every worktree; nothing if there are no worktrees.
fn candidates(folder: &Path) -> Option<Vec<PathBuf>> {
    let root = folder.ancestors().find(|above| above.join(".git").exists())?;
    let within = folder.strip_prefix(root).ok()?;
    let entries = fs::read_dir(root.join(FOLDER)).ok()?.flatten().take(LOOKED_AT_MAX);
    let there = entries.map(|entry| match within.as_os_str().is_empty() {
        true => entry.path(),
        false => entry.path().join(within),
    });
    Some(std::iter::once(folder.to_owned()).chain(there).collect())
}

/// Looks for sessions only, so it does not matter how they are kept.
fn keeper(surroundings: &Surroundings) -> Option<Keeper> {
    let parts = KeeperParts {
        folders: surroundings.folders.clone(),
        project: surroundings.working_folder.clone(),
        settings: KeepingSettings::default(),
        clock: Arc::clone(&surroundings.clock),
        random: Arc::clone(&surroundings.random),
    };
    Keeper::new(parts, |_| {}).ok()
}
