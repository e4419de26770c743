//! A call as people type it (the name of a tool and what it is to be given), and what would be decided about it.

use std::sync::Arc;

use rheon_policy::{Explanation, tool_name};
use rheon_text::did_you_mean;
use rheon_types::{Effect, ToolCall};
use serde_json::{Map, Value};

use crate::config::Config;
use crate::session::{NoticeSink, OpenError, SystemContext, toolkit};

/// The prefix of tool names of MCP servers.
const MCP_PREFIX: &str = "mcp__";

/// The main argument of each tool, which may be written without JSON: a bash command, for example.
const MAIN_ARGUMENTS: [(&str, &str); 14] = [
    ("bash", "command"),
    ("bash_output", "id"),
    ("bash_kill", "id"),
    ("read", "path"),
    ("list", "path"),
    ("glob", "path"),
    ("search", "path"),
    ("write", "path"),
    ("edit", "path"),
    ("notebook_edit", "path"),
    ("web_fetch", "url"),
    ("web_search", "query"),
    ("agent", "agent"),
    ("skill", "name"),
];

/// Why a call cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    #[error(
        "unknown tool {name:?}; {did_you_mean} Use a name from rules, such as Bash, Read, Edit, WebFetch or mcp__server__tool"
    )]
    Unknown {
        /// What was typed.
        name: String,
        /// What may have been meant.
        did_you_mean: String,
    },
    /// The arguments are no JSON object.
    #[error("the arguments are no JSON object: {0}")]
    Json(String),
    /// It is not known what the words are.
    #[error("{tool} takes its arguments as one JSON object, for example '{{\"path\": \"src\"}}'")]
    Words { tool: String },
}

/// The call that was typed: the tool by the name that rules or models have for it; its arguments as a JSON object, or the one that
/// matters literally, like a command or a path.
pub fn typed_call(tool: &str, arguments: &[String]) -> Result<ToolCall, CallError> {
    // People who write rules type a call like one: Bash(git push).
    let in_brackets = tool.strip_suffix(')').and_then(|rule| rule.split_once('('));
    if let (Some((tool, argument)), []) = (in_brackets, arguments) {
        return typed_call(tool, &[argument.to_owned()]);
    }
    let name = match tool_name(tool) {
        Some(name) => name,
        None if tool.starts_with(MCP_PREFIX) => tool,
        None => {
            let known: Vec<&str> = MAIN_ARGUMENTS.iter().map(|(name, _)| *name).collect();
            let did_you_mean = match did_you_mean(&tool.to_lowercase(), &known) {
                question if question.ends_with('?') => question,
                list => list + ".",
            };
            return Err(CallError::Unknown { name: tool.chars().take(100).collect(), did_you_mean });
        }
    };
    let arguments = object(name, arguments)?;
    Ok(ToolCall {
        id: "typed".into(),
        name: name.into(),
        arguments: Arc::new(arguments),
        malformed: None,
        key_order: None,
    })
}

fn object(name: &str, typed: &[String]) -> Result<Value, CallError> {
    let text = typed.join(" ");
    // A line of bash may begin with a brace, too.
    let is_group = name == "bash" && !text.trim_start().starts_with("{\"");
    if text.trim_start().starts_with('{') {
        match serde_json::from_str(&text) {
            Ok(value) => return Ok(value),
            Err(_) if is_group => {}
            Err(error) => return Err(CallError::Json(error.to_string())),
        }
    }
    let main = MAIN_ARGUMENTS.iter().find(|(tool, _)| *tool == name);
    match (main, typed) {
        (_, []) => Ok(Value::Object(Map::new())),
        (Some((_, key)), [_]) => {
            Ok(Value::Object([((*key).to_owned(), Value::String(text))].into_iter().collect()))
        }
        // A line of bash may be typed as it would be in a shell.
        (Some(("bash", key)), _) => {
            Ok(Value::Object([((*key).to_owned(), Value::String(text))].into_iter().collect()))
        }
        (Some(_) | None, _) => Err(CallError::Words { tool: name.to_owned() }),
    }
}

/// What a session here would decide about `call`, and why. Nothing runs.
pub async fn explain(
    system: &SystemContext,
    config: &Config,
    call: &ToolCall,
    tell: &NoticeSink,
) -> Result<Explanation, OpenError> {
    let toolkit = toolkit(system, config, Default::default(), tell).await?;
    let tools = toolkit.tools();
    let tool = tools.iter().find(|tool| tool.name() == call.name.as_str());
    Ok(toolkit.gate().explain(call, tool.map_or(Effect::default(), |tool| tool.effect())))
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;
