//! What keeps the sessions of this folder.

use std::sync::Arc;

use rheon_app::keeping::{Keeper, KeeperParts};
use rheon_app::session::Surroundings;

use crate::command::setup::{config, surroundings};
use crate::failure::Failure;
use crate::output::remark;

/// What keeps the sessions of this folder, and the machine it runs on.
pub(super) fn keeper() -> Result<(Keeper, Surroundings), Failure> {
    let surroundings = surroundings(None)?;
    let config = config(&surroundings)?;
    let parts = KeeperParts {
        folders: surroundings.folders.clone(),
        project: surroundings.working_folder.clone(),
        settings: config.settings.sessions,
        clock: Arc::clone(&surroundings.clock),
        random: Arc::clone(&surroundings.random),
    };
    let keeper = Keeper::new(parts, |notice| remark(&format!("note: {notice}"))).map_err(Failure::error)?;
    Ok((keeper, surroundings))
}
