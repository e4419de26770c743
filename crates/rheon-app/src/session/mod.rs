//! An open session: everything that is configured becomes an agent, reached as a client.

mod client;
mod error;
mod machine;
mod notice;
mod open;
mod services;
mod wiring;

pub use client::{Asking, ClientParts, LocalClient, Past, Watch};
pub use error::OpenError;
pub use machine::Surroundings;
pub use notice::SessionNotice;
pub use open::{Extras, OpenSession, Opening, Tell, Which};
pub use rheon_tools::hooks::SessionEndReason;
pub use services::registry;
