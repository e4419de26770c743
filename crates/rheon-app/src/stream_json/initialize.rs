//! `Initialize`: the client's setup of a session before the first prompt.

use rheon_types::protocol::HookRegistration;
use serde_json::{Map, Value};

use crate::session::registered;

/// The client's setup of a session before the first prompt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Initialize {
    pub hooks: Vec<HookRegistration>,
    /// Definitions of sub-agents, by name, as the program wrote them.
    pub agents: Map<String, Value>,
    /// Replaces the system prompt.
    pub system_prompt: Option<String>,
    /// Appended to the system prompt.
    pub append_system_prompt: Option<String>,
    /// The only skills to offer, where the program names them.
    pub skills: Option<Vec<String>>,
    /// The JSON Schema that answers must match.
    pub json_schema: Option<Value>,
    /// MCP servers that run in the program.
    pub sdk_mcp_servers: Vec<String>,
}

impl Initialize {
    /// Reads the request. A hook that cannot be registered is an error: the program must not assume that it runs.
    pub(super) fn read(request: &Map<String, Value>) -> Result<Self, String> {
        let text = |key: &str| match request.get(key) {
            Some(Value::String(text)) => Some(text.clone()),
            // Programs may send a prompt in pieces.
            Some(Value::Array(_)) => Some(texts(request.get(key)).join("\n\n")),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => None,
        };
        let list = request.get("skills").filter(|skills| skills.is_array());
        Ok(Self {
            hooks: hooks(request.get("hooks"))?,
            agents: request.get("agents").and_then(Value::as_object).cloned().unwrap_or_default(),
            system_prompt: text("systemPrompt"),
            append_system_prompt: text("appendSystemPrompt"),
            skills: list.map(|skills| texts(Some(skills))),
            json_schema: request.get("jsonSchema").filter(|schema| schema.is_object()).cloned(),
            sdk_mcp_servers: texts(request.get("sdkMcpServers")),
        })
    }
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn hooks(value: Option<&Value>) -> Result<Vec<HookRegistration>, String> {
    let events = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(events)) => events,
        Some(_) => return Err("\"hooks\" is not an object".to_owned()),
    };
    let mut hooks = Vec::new();
    for (event, groups) in events {
        let groups = groups.as_array().ok_or_else(|| format!("the hooks of {event} are not a list"))?;
        for group in groups {
            hooks.push(read_group(event, group)?);
        }
        if groups.is_empty() {
            hooks.push(HookRegistration { event: event.clone(), ..HookRegistration::default() });
        }
    }
    registered(&hooks).map_err(|error| error.to_string())?;
    Ok(hooks)
}

fn read_group(event: &str, group: &Value) -> Result<HookRegistration, String> {
    let timeout_ms = match group.get("timeout").and_then(Value::as_f64) {
        None => None,
        // Far below the largest number, and more than a year.
        Some(seconds) if seconds > 0.0 => Some((seconds * 1_000.0).min(1e12) as u64),
        Some(seconds) => return Err(format!("a hook of {event} may take {seconds} seconds")),
    };
    Ok(HookRegistration {
        event: event.to_owned(),
        matcher: group.get("matcher").and_then(Value::as_str).unwrap_or_default().to_owned(),
        callbacks: texts(group.get("hookCallbackIds")),
        timeout_ms,
        blocks_on_failure: !matches!(group.get("onFailure").and_then(Value::as_str), None | Some("continue")),
    })
}
