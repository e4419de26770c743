//! The engine alone: an agent without a project, a journal or configuration files.

mod agent;
mod builder;
#[cfg(feature = "connect")]
mod connect;
mod model;

pub use agent::Agent;
pub use builder::AgentBuilder;
#[cfg(feature = "session")]
pub(crate) use model::check_key;
