//! Configuration: merges files, environment variables and flags into one value whose parts know their origin.
//!
//! Every key is a row of a table with its type and what a project may do with it. A layer is read into a tree with
//! places, checked against the table, and laid over the weaker ones; a project can only make things tighter.

mod build;
mod check;
mod dir_modes;
mod entry;
mod entry_text;
mod hooks;
mod inputs;
mod key;
mod key_source;
mod keys;
mod layer;
mod layer_text;
mod load;
mod mcp;
mod mcp_edit;
mod mcp_server;
mod merge;
mod node;
mod origin;
mod permissions;
mod problem;
mod read_file;
mod services;
mod settings;
mod trust;
mod variables;

pub use dir_modes::DirModes;
pub use inputs::{ConfigInputs, ConfigScope, FlagSetting, FlagValue, MANAGED_FILE, TrustChoice};
pub use keys::{KeyReference, reference, template};
pub use layer_text::ConfigPath;
pub(crate) use layer_text::PROJECT_RULES;
pub use load::{Config, SettingEffect, SettingView, config_paths};
pub use mcp_edit::{McpEditError, McpFile, McpScope};
pub use mcp_server::{McpRemote, McpServer, McpTransport};
pub use origin::{Layer, SettingOrigin, SourceName};
pub use problem::{ConfigError, ConfigProblem};
pub use settings::{
    ColorMode, ContextSettings, InterfaceSettings, LimitSettings, LogLevel, LogSettings, ModelSettings,
    PermissionSettings, SandboxSettings, ServiceSettings, Settings, WebSettings,
};
pub use trust::{ProjectAnswers, ProjectReview, ReviewError, revoke_trust};

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod load_tests;
#[cfg(test)]
mod mcp_tests;
#[cfg(test)]
mod merge_tests;
#[cfg(test)]
mod reference_tests;
#[cfg(test)]
mod services_tests;
#[cfg(test)]
mod strict_tests;
#[cfg(test)]
mod trust_tests;
