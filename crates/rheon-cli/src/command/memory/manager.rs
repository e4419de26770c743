//! The memory of the user and of this project.

use std::sync::Arc;

use rheon_app::context::project_root;
use rheon_app::memory::{MemoryDesk, MemoryPlaces};

use crate::command::setup::surroundings;
use crate::failure::Failure;

/// The memory of the user and of this project.
pub(super) fn manager() -> Result<MemoryDesk, Failure> {
    let surroundings = surroundings(None)?;
    let root = project_root(&surroundings.working_folder);
    let places = MemoryPlaces::of(&surroundings.folders, &root).map_err(Failure::error)?;
    MemoryDesk::open(&places, Arc::clone(&surroundings.clock)).map_err(Failure::error)
}
