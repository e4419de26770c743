//! Flags that say what the model is told and what is configured.

use std::path::PathBuf;

use crate::ground::Ground;

/// What the model is told and what is configured.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Setup")]
pub(crate) struct SetupFlags {
    /// Say this to the model instead of the usual instructions
    #[arg(long, value_name = "TEXT")]
    pub(crate) system_prompt: Option<String>,

    /// The same, from a file
    #[arg(long, value_name = "FILE", conflicts_with = "system_prompt")]
    pub(crate) system_prompt_file: Option<PathBuf>,

    /// Say this to the model besides the usual instructions
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_system_prompt: Option<String>,

    /// More settings: a file, or JSON or TOML as it stands
    #[arg(long, value_name = "FILE|TEXT")]
    pub(crate) settings: Option<String>,

    /// The only settings to read, of user, project and local; none if empty
    #[arg(long, value_name = "SOURCES")]
    pub(crate) setting_sources: Option<String>,

    /// MCP servers: a file, or JSON as it stands
    #[arg(long, value_name = "FILE|JSON", num_args = 1.., action = clap::ArgAction::Append)]
    pub(crate) mcp_config: Vec<String>,

    /// Only the MCP servers of --mcp-config
    #[arg(long)]
    pub(crate) strict_mcp_config: bool,

    /// Work in this folder
    #[arg(short = 'C', long, value_name = "FOLDER")]
    pub(crate) cd: Option<PathBuf>,

    /// Only what is asked for: no rules, no skills, no memory, no hooks, no project settings
    #[arg(long)]
    pub(crate) bare: bool,
}

impl SetupFlags {
    /// The same wherever the session works.
    pub(crate) fn seen_from(&self, ground: &Ground) -> Self {
        let settings = self.settings.as_ref().map(|text| ground.user_file(text));
        let mcp_config = self.mcp_config.iter().map(|text| ground.user_file(text)).collect();
        Self { settings, mcp_config, ..self.clone() }
    }
}
