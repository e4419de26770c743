//! Rewind: takes the conversation, the files or both back to a message. Nothing is lost: the conversation continues
//! in a new session while the old one stays complete, and the current files are captured first.

mod changes;
mod error;
mod execute;
mod history;
mod plan;
mod point;

pub use changes::{ChangedFile, ChangesSince, changes};
pub use error::RewindError;
pub use execute::{ConflictPolicy, RewindOutcome, RewindRequest, rewind, sweep, undo};
pub use plan::{
    ConversationPlan, FilesPlan, RemovedMessage, RestoreScope, RewindPlan, RewindTo, Speaker, plan_rewind,
};
pub use point::{PointFiles, RewindPoint, points};

#[cfg(test)]
mod rewind_tests;
