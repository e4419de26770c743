//! The memory of the user and of this project.

use std::sync::Arc;

use rheon_app::context::project_root;
use rheon_app::memory::{MemoryManager, MemoryPaths};

use crate::command::setup::system;
use crate::failure::Failure;

/// The memory of the user and of this project.
pub(super) fn manager() -> Result<MemoryManager, Failure> {
    let system = system(None)?;
    let root = project_root(&system.working_dir);
    let places = MemoryPaths::of(&system.dirs, &root).map_err(Failure::error)?;
    MemoryManager::open(&places, Arc::clone(&system.clock)).map_err(Failure::error)
}
