//! Working trees of sessions' own: several agents work on one repository at once without being in each other's way.

mod ended;
mod error;
mod judge;
mod name;
mod open;
mod place;
mod repository;
mod request;

pub use ended::{Ended, Stays};
pub use error::WorktreeError;
pub use name::{NAME_CHARS_MAX, NameError, WorktreeName};
pub use open::Worktree;
pub use place::{WorktreePlace, worktree_folders};
pub use request::WorktreeRequest;
