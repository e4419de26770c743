//! Rewind: the conversation, the files, or both become what they were at a message. Nothing is lost by it: the conversation
//! goes on in a new session while the old one stays whole, and the files as they are now are captured first.

mod carry_out;
mod error;
mod plan;
mod point;
mod trail;

pub use carry_out::{Others, Rewinding, Rewound, rewind, sweep, undo};
pub use error::RewindError;
pub use plan::{ConversationPlan, FilesPlan, Gone, RewindPlan, Speaker, To, What, plan_rewind};
pub use point::{Point, PointFiles, points};

#[cfg(test)]
mod rewind_tests;
