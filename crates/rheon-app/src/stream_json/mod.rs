//! Claude Code's stream-json: the events of a session as lines, and the lines of a program that drives it.
//!
//! [`Projector`] makes lines of events and knows nothing of where they go. [`InputLines`] makes [`InputLine`]s of bytes.
//! [`Channel`] carries control requests: those of the session to the program (may this tool run? what does your hook say?)
//! and those of the program to the session.

mod channel;
mod facts;
mod happenings;
mod ids;
mod initialize;
mod input;
mod lines;
mod message;
mod partial;
mod permission;
mod project;
mod projector;
mod request;
mod result;
mod tally;
mod tool;
mod view;

pub use channel::{Channel, ChannelInput};
pub use facts::{NamedItem, SessionFeatures, StreamModelInfo, StreamSessionInfo};
pub use happenings::is_refusal;
pub use ids::line_id;
pub use initialize::Initialize;
pub use input::{
    HostPrompt, InputError, InputLine, InputLines, InputProblem, LINE_BYTES_MAX, UserLine, is_for_programs,
};
pub use permission::PermissionUpdate;
pub use projector::{Projector, SessionActivity, StreamOptions};
pub use request::ClientRequest;

#[cfg(test)]
mod channel_tests;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod projector_tests;
#[cfg(test)]
mod shape_tests;
