//! `Initialize`: what a program tells a session before the first prompt.

use std::time::Duration;

use rheon_tools::hooks::{CommandHook, HookEvent, HookGroup, HookSettings, Matcher, OnFailure, UNFIRED};
use serde_json::{Map, Value};

/// How many functions a program may register as hooks.
pub const CALLBACKS_MAX: usize = 1_000;

/// The longest that a hook may be waited for.
const TIMEOUT_SECONDS_MAX: f64 = 86_400.0;

/// What a program tells a session before the first prompt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Initialize {
    /// The functions that are hooks; their commands are the ids of the functions. `warnings` name those that never run.
    pub hooks: HookSettings,
    /// Definitions of sub-agents, by name, as the program wrote them.
    pub agents: Map<String, Value>,
    /// What takes the place of the system prompt.
    pub system_prompt: Option<String>,
    /// What is added to the system prompt.
    pub append_system_prompt: Option<String>,
    /// The only skills to offer, where the program names them.
    pub skills: Option<Vec<String>>,
    /// The form that answers must have, as a JSON Schema.
    pub json_schema: Option<Value>,
    /// MCP servers that live in the program.
    pub sdk_mcp_servers: Vec<String>,
}

impl Initialize {
    /// Reads the request. A hook that cannot be registered is an error: who relies on it must not believe that it runs.
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

fn hooks(value: Option<&Value>) -> Result<HookSettings, String> {
    let mut settings = HookSettings::default();
    let events = match value {
        None | Some(Value::Null) => return Ok(settings),
        Some(Value::Object(events)) => events,
        Some(_) => return Err("\"hooks\" is not an object".to_owned()),
    };
    for (name, groups) in events {
        let Some(event) = HookEvent::named(name) else {
            let known =
                if UNFIRED.contains(&name.as_str()) { "is known but never happens" } else { "is not known" };
            settings.warnings.push(format!("hooks for {name:?} never run: the event {known}"));
            continue;
        };
        let groups = groups.as_array().ok_or_else(|| format!("the hooks of {name} are not a list"))?;
        for group in groups {
            settings.groups.push(read_group(event, group)?);
        }
    }
    if settings.hooks().count() > CALLBACKS_MAX {
        return Err(format!("more than {CALLBACKS_MAX} hooks"));
    }
    Ok(settings)
}

fn read_group(event: HookEvent, group: &Value) -> Result<HookGroup, String> {
    let pattern = group.get("matcher").and_then(Value::as_str).unwrap_or_default();
    let matcher = Matcher::parse(pattern).map_err(|error| error.to_string())?;
    let timeout = match group.get("timeout").and_then(Value::as_f64) {
        None => None,
        Some(seconds) if seconds > 0.0 => Some(Duration::from_secs_f64(seconds.min(TIMEOUT_SECONDS_MAX))),
        Some(seconds) => return Err(format!("a hook of {event} may take {seconds} seconds")),
    };
    let on_failure = match group.get("onFailure").and_then(Value::as_str) {
        None | Some("continue") => OnFailure::Allow,
        Some(_) => OnFailure::Block,
    };
    let ids = texts(group.get("hookCallbackIds"));
    let hook = |id| {
        let mut hook = CommandHook::callback(id);
        (hook.timeout, hook.on_failure) = (timeout, on_failure);
        hook
    };
    Ok(HookGroup { event, matcher, hooks: ids.into_iter().map(hook).collect() })
}
