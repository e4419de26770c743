//! Sessions of this process: opens an agent from the configuration and serves it through a host and clients.

mod answering;
mod attachments;
mod attention;
mod calls;
mod catch_up;
mod changes;
mod children;
mod client;
mod command_list;
mod error;
mod feed;
mod hooks;
mod host;
mod hub;
#[cfg_attr(not(feature = "connect"), path = "mcp_none.rs")]
mod mcp;
#[cfg(feature = "connect")]
mod mcp_files;
mod mcp_text;
mod notices;
mod open;
mod past;
mod preview;
mod published;
mod queries;
mod rewinding;
mod sandbox_control;
mod services;
mod slash;
mod tool_tokens;
mod typed_text;
mod wiring;

pub use crate::system::{NoticeSink, Observer, SystemContext};
pub use changes::thinking_level;
pub(crate) use command_list::is_session_command;
pub use error::OpenError;
pub(crate) use hooks::registered;
pub use host::{HostParts, LocalHost};
pub use hub::SessionLoad;
#[cfg(feature = "connect")]
pub use mcp::{forget_mcp_login, probe_mcp_servers, start_mcp_login};
#[cfg(feature = "connect")]
pub use mcp_files::mcp_log;
pub use mcp_text::{mcp_details, mcp_line};
pub use open::{HostExtensions, ProvidedModel};
pub(crate) use preview::strict_toolkit;
pub use preview::{Preview, WINDOW_ASSUMED, toolkit};
pub use rheon_agent::schema_problem;
pub use rheon_sandbox::remove_temporary_directories;
pub use services::{registry, variables};
pub(crate) use wiring::sandbox_caches;
pub use wiring::{clean_sandbox_caches, home_warning};
