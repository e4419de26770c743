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
        from: system.working_dir.clone(),
        name,
        within: None,
        user_dir: system.working_dir.clone(),
    }
}

/// The worktree that a resumed session worked in, if it had one: for the last session, one of this directory or of this directory in any
/// worktree. None if the user is there: then it is a directory like any other.
pub async fn worktree_of_session(system: &SystemContext, choice: &SessionChoice) -> Option<WorktreeRequest> {
    let dir = match choice {
        SessionChoice::New { .. } => return None,
        SessionChoice::Named { id } | SessionChoice::ForkOf { id } => {
            manager(system)?.dir_of(id).await.ok()?
        }
        SessionChoice::Latest | SessionChoice::ForkOfLatest => {
            let dirs = worktree_directories(&system.working_dir)?;
            manager(system)?.latest_dir(dirs).await.ok()?
        }
    };
    let WorktreeLocation { root, name, within } = WorktreeLocation::of(&dir?)?;
    let is_there = WorktreeLocation::of(&system.working_dir)
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
        dirs: system.dirs.clone(),
        project: system.working_dir.clone(),
        settings: PersistenceSettings::default(),
        clock: Arc::clone(&system.clock),
        random: Arc::clone(&system.random),
    };
    SessionManager::new(parts, |_| {}).ok()
}
