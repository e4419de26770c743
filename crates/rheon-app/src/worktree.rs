//! Which worktree a session works in: the one that the user names, or the one that it worked in before.

use std::sync::Arc;

use rheon_types::protocol::SessionChoice;

use crate::session::SystemContext;
use crate::sessions::{PersistenceSettings, SessionManager, SessionManagerParts};

pub use rheon_fleet::git::{
    NAME_CHARS_MAX, RemainingWorktree, Worktree, WorktreeError, WorktreeLocation, WorktreeName,
    WorktreeNameError, WorktreeOutcome, WorktreeRequest, worktree_directories,
};

/// The worktree `name` of the repository that the user is in.
pub fn worktree_named(name: WorktreeName, system: &SystemContext) -> WorktreeRequest {
    WorktreeRequest {
        environment: system.environment.for_git(),
        from: system.working_folder.clone(),
        name,
        within: None,
        user_folder: system.working_folder.clone(),
    }
}

/// The worktree that a resumed session worked in, if it had one: for the last session, one of this folder or of this folder in any
/// worktree. None if the user is there: then it is a folder like any other.
pub async fn worktree_of_session(system: &SystemContext, choice: &SessionChoice) -> Option<WorktreeRequest> {
    let folder = match choice {
        SessionChoice::New { .. } => return None,
        SessionChoice::Named { id } | SessionChoice::ForkOf { id } => {
            manager(system)?.folder_of(id).await.ok()?
        }
        SessionChoice::Latest | SessionChoice::ForkOfLatest => {
            let folders = worktree_directories(&system.working_folder)?;
            manager(system)?.latest_folder(folders).await.ok()?
        }
    };
    let WorktreeLocation { root, name, within } = WorktreeLocation::of(&folder?)?;
    let is_there = WorktreeLocation::of(&system.working_folder)
        .is_some_and(|place| place.root == root && place.name == name);
    if is_there || !root.is_dir() {
        return None;
    }
    let request = worktree_named(name, system);
    Some(WorktreeRequest { from: root, within: Some(within), ..request })
}

/// Only finds sessions, so the persistence settings do not matter.
fn manager(system: &SystemContext) -> Option<SessionManager> {
    let parts = SessionManagerParts {
        folders: system.folders.clone(),
        project: system.working_folder.clone(),
        settings: PersistenceSettings::default(),
        clock: Arc::clone(&system.clock),
        random: Arc::clone(&system.random),
    };
    SessionManager::new(parts, |_| {}).ok()
}
