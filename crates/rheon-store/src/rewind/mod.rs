//! Rewind: the conversation, the files, or both become what they were at a message. Nothing is lost by it: the conversation
//! goes on in a new session while the old one stays whole, and the files as they are now are captured first.

mod error;
mod execute;
mod history;
mod plan;
mod point;

pub use error::RewindError;
pub use execute::{ConflictPolicy, RewindOutcome, RewindRequest, rewind, sweep, undo};
pub use plan::{
    ConversationPlan, FilesPlan, RemovedMessage, RestoreScope, RewindPlan, RewindTo, Speaker, plan_rewind,
};
pub use point::{PointFiles, RewindPoint, points};

#[cfg(test)]
mod rewind_tests;
