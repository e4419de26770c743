//! Flags for input and output.

use std::path::PathBuf;

use clap::ValueEnum;

#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Input and output")]
pub(crate) struct OutputFlags {
    /// Set the output format of a headless run
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: OutputFormat,

    /// Set the format of standard input
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) input_format: InputFormat,

    /// Require an answer that matches this JSON schema (text or file)
    #[arg(long, value_name = "SCHEMA")]
    pub(crate) json_schema: Option<String>,

    /// Include partial messages in stream-json output
    #[arg(long)]
    pub(crate) include_partial_messages: bool,

    /// Echo user messages in stream-json output
    #[arg(long)]
    pub(crate) replay_user_messages: bool,

    /// Include hook events in stream-json output
    #[arg(long, hide = true)]
    pub(crate) include_hook_events: bool,

    /// Send approvals to this program: stdio, the one that drives the session
    #[arg(long, value_name = "TOOL", hide = true)]
    pub(crate) permission_prompt_tool: Option<String>,

    /// Show notices, retries and hooks
    #[arg(long)]
    pub(crate) verbose: bool,

    /// Also write every event to this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// Use the terminal's own line editing, without history or key bindings
    #[arg(long)]
    pub(crate) plain: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer as text; tool activity goes to standard error
    #[default]
    Text,
    /// One JSON object at the end
    Json,
    /// Claude Code's format, one JSON object per line
    StreamJson,
    /// Rheon's events, one JSON object per line
    Events,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// Text that is added to the prompt
    #[default]
    Text,
    /// Messages and control requests in Claude Code's format
    StreamJson,
}
