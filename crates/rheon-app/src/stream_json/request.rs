//! `ClientRequest`: the control requests of a program.

use rheon_types::event::PermissionMode;
use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::initialize::Initialize;

/// A control request of a program.
#[derive(Debug, Clone, PartialEq)]
pub enum ClientRequest {
    Initialize(Box<Initialize>),
    Interrupt,
    SetPermissionMode {
        mode: PermissionMode,
    },
    SetModel {
        /// The new model; `None` restores the first one.
        model: Option<String>,
    },
    SetMaxThinkingTokens {
        /// The new limit; `None` restores the first one.
        tokens: Option<u64>,
    },
    /// Restores the files from before a prompt.
    RewindFiles {
        /// The id of the prompt's line, see [`line_id`](super::line_id).
        user_message_id: String,
        dry_run: bool,
    },
    McpStatus,
    McpReconnect {
        server: String,
    },
    ContextUsage,
    /// An unsupported or invalid request; answered with the problem.
    Refused {
        subtype: String,
        problem: String,
    },
}

/// Unsupported requests, and why.
const REFUSED: [(&str, &str); 5] = [
    (
        "mcp_message",
        "MCP servers of the calling program can only answer; their own messages are not supported",
    ),
    ("mcp_toggle", "MCP servers cannot be switched on and off in a session; change the configuration"),
    ("mcp_set_servers", "the MCP servers of a session cannot be replaced; name them with --mcp-config"),
    ("stop_task", "no such task"),
    ("side_question", "side questions are not supported"),
];

impl ClientRequest {
    /// Reads the `request` of a `control_request`. An invalid request gets an error answer, so that no client waits forever.
    pub fn read(request: &Map<String, Value>) -> Self {
        let subtype = request.get("subtype").and_then(Value::as_str).unwrap_or_default();
        let refused =
            |problem: String| Self::Refused { subtype: subtype.chars().take(60).collect(), problem };
        let text = |key: &str| request.get(key).and_then(Value::as_str).map(str::to_owned);
        match subtype {
            "initialize" => match Initialize::read(request) {
                Ok(initialize) => Self::Initialize(Box::new(initialize)),
                Err(problem) => refused(problem),
            },
            "interrupt" => Self::Interrupt,
            "set_permission_mode" => {
                let mode = request.get("mode").cloned().unwrap_or_default();
                match PermissionMode::deserialize(&mode) {
                    Ok(mode) => Self::SetPermissionMode { mode },
                    Err(_) => refused(format!("unknown permission mode {mode}")),
                }
            }
            "set_model" => match request.get("model") {
                None | Some(Value::Null) => Self::SetModel { model: None },
                Some(Value::String(model)) => {
                    Self::SetModel { model: Some(model.clone()).filter(|model| model != "default") }
                }
                Some(other) => refused(format!("{} is not a model name", short(other))),
            },
            "set_max_thinking_tokens" => match request.get("max_thinking_tokens") {
                None | Some(Value::Null) => Self::SetMaxThinkingTokens { tokens: None },
                Some(value) => match value.as_u64() {
                    Some(tokens) => Self::SetMaxThinkingTokens { tokens: Some(tokens) },
                    None => refused(format!("{} is not a number of tokens", short(value))),
                },
            },
            "rewind_files" => match text("user_message_id") {
                Some(user_message_id) => {
                    let dry_run = request.get("dry_run").and_then(Value::as_bool).unwrap_or(false);
                    Self::RewindFiles { user_message_id, dry_run }
                }
                None => refused("\"user_message_id\" is missing".to_owned()),
            },
            "mcp_status" => Self::McpStatus,
            "mcp_reconnect" => match text("serverName") {
                Some(server) => Self::McpReconnect { server },
                None => refused("\"serverName\" is missing".to_owned()),
            },
            "get_context_usage" => Self::ContextUsage,
            other => match REFUSED.iter().find(|(name, _)| *name == other) {
                Some((_, problem)) => refused((*problem).to_owned()),
                None => refused(format!(
                    "unsupported control request {:?}",
                    other.chars().take(60).collect::<String>()
                )),
            },
        }
    }
}

/// The beginning of a value.
fn short(value: &Value) -> String {
    value.to_string().chars().take(60).collect()
}
