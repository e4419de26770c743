//! Configuration: files, variables and flags become one value, and each part of it knows where it comes from.
//!
//! Every key is a row of a table that says what it takes and what a project may do with it. A layer is read into a tree with
//! places, checked against the table, and laid over the weaker ones; a project can only make things tighter.

mod finding;
mod inputs;
mod load;
mod mcp_server;
mod place;
mod settings;

pub use finding::{ConfigError, Finding};
pub use inputs::{ConfigInputs, FlagSetting, FlagValue, MANAGED_FILE, TrustChoice};
pub use load::Config;
pub use mcp_server::{McpRemote, McpServer, McpTransport};
pub use place::{Layer, Origin, SourceName};
pub use settings::{
    Colour, ContextSettings, InterfaceSettings, LimitSettings, LogLevel, LogSettings, ModelSettings,
    PermissionSettings, SandboxSettings, ServiceSettings, Settings, WebSettings,
};
