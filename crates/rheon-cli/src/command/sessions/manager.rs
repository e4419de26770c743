//! The session manager of this directory.

use std::sync::Arc;

use rheon_app::session::SystemContext;
use rheon_app::sessions::{SessionManager, SessionManagerParts};

use crate::command::setup::{config, system};
use crate::failure::Failure;
use crate::output::print_note;

/// The session manager of this directory, and the system context.
pub(super) fn manager() -> Result<(SessionManager, SystemContext), Failure> {
    let system = system(None)?;
    let config = config(&system)?;
    let parts = SessionManagerParts {
        dirs: system.dirs.clone(),
        project: system.working_dir.clone(),
        settings: config.settings.sessions,
        clock: Arc::clone(&system.clock),
        random: Arc::clone(&system.random),
    };
    let manager = SessionManager::new(parts, |notice| print_note(&format!("note: {notice}")))
        .map_err(Failure::error)?;
    Ok((manager, system))
}
