//! Working trees of sessions' own: several agents work on one repository at once without being in each other's way.

mod decide;
mod error;
mod name;
mod open;
mod outcome;
mod place;
mod repository;

pub use error::WorktreeError;
pub use name::{NAME_CHARS_MAX, WorktreeName, WorktreeNameError};
pub use open::{Worktree, WorktreeRequest};
pub use outcome::{RemainingWorktree, WorktreeOutcome};
pub use place::{WorktreeLocation, sibling_directories, worktree_directories};
