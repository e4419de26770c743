//! Which worktree a session works in: the one that the user names, or the one that it worked in before.

use std::sync::Arc;

use rheon_types::protocol::SessionChoice;

use crate::keeping::{Keeper, KeeperParts, KeepingSettings};
use crate::session::Surroundings;

pub use rheon_fleet::git::{
    Ended, NAME_CHARS_MAX, NameError, Stays, Worktree, WorktreeError, WorktreeName, WorktreePlace,
    WorktreeRequest, worktree_folders,
};

/// The worktree `name` of the repository that the user is in.
pub fn worktree_named(name: WorktreeName, surroundings: &Surroundings) -> WorktreeRequest {
    WorktreeRequest {
        environment: surroundings.environment.for_git(),
        from: surroundings.working_folder.clone(),
        name,
        within: None,
        user_folder: surroundings.working_folder.clone(),
    }
}

/// The worktree that a resumed session worked in, if it had one: for the last session, one of this folder or of this folder in any
/// worktree. None if the user is there: then it is a folder like any other.
pub async fn worktree_of_session(
    surroundings: &Surroundings,
    choice: &SessionChoice,
) -> Option<WorktreeRequest> {
    let folder = match choice {
        SessionChoice::New { .. } => return None,
        SessionChoice::Named { id } | SessionChoice::ForkOf { id } => {
            keeper(surroundings)?.folder_of(id).await.ok()?
        }
        SessionChoice::Latest | SessionChoice::ForkOfLatest => {
            let folders = worktree_folders(&surroundings.working_folder)?;
            keeper(surroundings)?.latest_folder(folders).await.ok()?
        }
    };
    let WorktreePlace { root, name, within } = WorktreePlace::of(&folder?)?;
    let is_there = WorktreePlace::of(&surroundings.working_folder)
        .is_some_and(|place| place.root == root && place.name == name);
    if is_there || !root.is_dir() {
        return None;
    }
    let request = worktree_named(name, surroundings);
    Some(WorktreeRequest { from: root, within: Some(within), ..request })
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
