//! Flags that say how a run is shown and what it is fed.

use std::path::PathBuf;

use clap::ValueEnum;

/// How a run is shown and what it is fed.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Input and output")]
pub(crate) struct OutputFlags {
    /// How a headless run is shown
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: OutputFormat,

    /// What standard input is
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) input_format: InputFormat,

    /// The form the answer must have: a JSON schema, or a file with one
    #[arg(long, value_name = "SCHEMA")]
    pub(crate) json_schema: Option<String>,

    /// With stream-json: what the model says as it says it, too
    #[arg(long)]
    pub(crate) include_partial_messages: bool,

    /// With stream-json in and out: repeat what the user said
    #[arg(long)]
    pub(crate) replay_user_messages: bool,

    /// With stream-json: what hooks did, too
    #[arg(long, hide = true)]
    pub(crate) include_hook_events: bool,

    /// Who answers questions of a headless run: stdio, the program that drives it
    #[arg(long, value_name = "TOOL", hide = true)]
    pub(crate) permission_prompt_tool: Option<String>,

    /// Say more: notices, retries, what hooks did
    #[arg(long)]
    pub(crate) verbose: bool,

    /// Write every event as a line of JSON to this file, too
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// Speak line by line, and let the terminal itself edit the lines: no keys of ours, no history
    #[arg(long)]
    pub(crate) plain: bool,
}

/// How a headless run is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer, as it comes; what tools do goes to standard error
    #[default]
    Text,
    /// One object when the run is over
    Json,
    /// Claude Code's format, line by line
    StreamJson,
    /// Rheon's own events, line by line
    Events,
}

/// What standard input is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// Text that belongs to the prompt
    #[default]
    Text,
    /// Messages and control requests in Claude Code's format, line by line
    StreamJson,
}
