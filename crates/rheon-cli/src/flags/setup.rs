//! Flags for the system prompt and the configuration.

use std::path::PathBuf;

use crate::target::SessionTarget;

#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Setup")]
pub(crate) struct SetupFlags {
    /// Replace the system prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) system_prompt: Option<String>,

    /// Replace the system prompt with this file
    #[arg(long, value_name = "FILE", conflicts_with = "system_prompt")]
    pub(crate) system_prompt_file: Option<PathBuf>,

    /// Append to the system prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_system_prompt: Option<String>,

    /// Load more settings: a file, or JSON or TOML text
    #[arg(long, value_name = "FILE|TEXT")]
    pub(crate) settings: Option<String>,

    /// Load only these settings (user, project, local); none if empty
    #[arg(long, value_name = "SOURCES")]
    pub(crate) setting_sources: Option<String>,

    /// Load MCP servers from a file or JSON text
    #[arg(long, value_name = "FILE|JSON", num_args = 1.., action = clap::ArgAction::Append)]
    pub(crate) mcp_config: Vec<String>,

    /// Use only the MCP servers of --mcp-config
    #[arg(long)]
    pub(crate) strict_mcp_config: bool,

    /// Work in this directory
    #[arg(short = 'C', long, value_name = "DIR")]
    pub(crate) cd: Option<PathBuf>,

    /// Ignore rules, skills, memory, hooks and project settings
    #[arg(long)]
    pub(crate) bare: bool,
}

impl SetupFlags {
    /// Resolves relative paths against the directory in which the user typed them.
    pub(crate) fn seen_from(&self, target: &SessionTarget) -> Self {
        let settings = self.settings.as_ref().map(|text| target.user_file(text));
        let mcp_config = self.mcp_config.iter().map(|text| target.user_file(text)).collect();
        Self { settings, mcp_config, ..self.clone() }
    }
}
