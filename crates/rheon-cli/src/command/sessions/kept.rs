//! What keeps the sessions of this folder.

use std::sync::Arc;

use rheon_app::session::SystemContext;
use rheon_app::sessions::{SessionManager, SessionManagerParts};

use crate::command::setup::{config, system};
use crate::failure::Failure;
use crate::output::remark;

/// What keeps the sessions of this folder, and the machine it runs on.
pub(super) fn keeper() -> Result<(SessionManager, SystemContext), Failure> {
    let system = system(None)?;
    let config = config(&system)?;
    let parts = SessionManagerParts {
        folders: system.folders.clone(),
        project: system.working_folder.clone(),
        settings: config.settings.sessions,
        clock: Arc::clone(&system.clock),
        random: Arc::clone(&system.random),
    };
    let keeper =
        SessionManager::new(parts, |notice| remark(&format!("note: {notice}"))).map_err(Failure::error)?;
    Ok((keeper, system))
}
