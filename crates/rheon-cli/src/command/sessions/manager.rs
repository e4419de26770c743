//! The session manager of this directory.

use std::sync::Arc;

use rheon_app::keeping::{Keeper, KeeperParts};
use rheon_app::session::Surroundings;

use crate::command::setup::{config, surroundings};
use crate::failure::Failure;
use crate::output::print_note;

/// The session manager of this directory, and the system context.
pub(super) fn manager() -> Result<(Keeper, Surroundings), Failure> {
    let surroundings = surroundings(None)?;
    let config = config(&surroundings)?;
    let parts = KeeperParts {
        folders: surroundings.folders.clone(),
        project: surroundings.working_folder.clone(),
        settings: config.settings.sessions,
        clock: Arc::clone(&surroundings.clock),
        random: Arc::clone(&surroundings.random),
    };
    let manager =
        Keeper::new(parts, |notice| print_note(&format!("note: {notice}"))).map_err(Failure::error)?;
    Ok((manager, surroundings))
}
