//! Claude Code's stream-json: the events of a session as lines, and the lines of a program that drives it.
//!
//! [`Projector`] makes lines of events and knows nothing of where they go. [`InputLines`] makes [`InputLine`]s of bytes.
//! [`Channel`] is the conversation about the conversation: questions of the session to the program (may this tool run? what
//! does your hook say?) and of the program to the session.

mod facts;
mod happenings;
mod ids;
mod lines;
mod message;
mod partial;
mod project;
mod projector;
mod result;
mod tally;
mod tool;
mod view;

pub use facts::{Described, McpServer, ModelFacts, Offers, SessionFacts};
pub use ids::line_id;
pub use projector::{Projector, Shown};
