//! An open session: everything that is configured becomes an agent, reached as a client.

mod answering;
mod changes;
mod client;
mod error;
mod facts;
mod machine;
mod notice;
mod open;
mod preview;
mod services;
mod spent;
mod tool_tokens;
mod wiring;

pub use changes::{PromptName, thinking_level};
pub use client::{Asking, ClientParts, LocalClient, Past, Watch};
pub use error::OpenError;
pub use facts::session_facts;
pub use machine::Surroundings;
pub use notice::{SessionNotice, Tell};
pub use open::{Extras, GivenModel, Observer, OpenSession, Opening, Which};
pub use preview::{Preview, WINDOW_ASSUMED, toolkit};
pub use rheon_agent::schema_problem;
pub use rheon_sandbox::remove_temporary_folders;
pub use rheon_tools::hooks::SessionEndReason;
pub use services::{registry, variables};
pub use spent::Spent;
