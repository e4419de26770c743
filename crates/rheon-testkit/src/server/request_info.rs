//! `RequestInfo`: what a request asks for, independent of its wire.

use rheon_providers::wire::WireKind;
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RequestInfo {
    pub(crate) wire: WireKind,
    /// The model, as the request names it.
    pub(crate) model: String,
    pub(crate) delivery: Delivery,
    pub(crate) tools: Vec<OfferedTool>,
    /// Whether the conversation ends with a tool result.
    pub(crate) ends_with_tool_result: bool,
    pub(crate) extras: RequestedExtras,
}

/// How the response is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// As an event stream.
    Stream,
    /// As a stream of the items of one JSON array (Gemini without `alt=sse`).
    ArrayStream,
    /// As one JSON body.
    Whole,
}

/// Parts of a response that a service sends only on request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RequestedExtras {
    /// Usage at the end of the stream (chat).
    pub(crate) usage: bool,
    /// Encrypted reasoning (Responses).
    pub(crate) encrypted_thinking: bool,
}

/// A tool that the request offers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OfferedTool {
    pub(crate) name: String,
    /// The schema of its parameters; `null` if it has none.
    pub(crate) schema: Value,
}

impl RequestInfo {
    /// The tool for a generated call: one that runs a command, because it can be called repeatedly, otherwise the
    /// first.
    pub(crate) fn any_tool(&self) -> Option<&OfferedTool> {
        let runs = |tool: &&OfferedTool| {
            let required = tool.schema.get("required").and_then(Value::as_array);
            required.is_some_and(|names| names.iter().any(|name| name == "command" || name == "cmd"))
        };
        self.tools.iter().find(runs).or_else(|| self.tools.first())
    }
}

impl OfferedTool {
    /// Arguments that match its schema: all required ones and no others.
    pub(crate) fn arguments(&self) -> Value {
        sample(&self.schema, "", 8)
    }
}

/// A value that matches `schema`, for the property `name`, at most `depth` levels deep.
fn sample(schema: &Value, name: &str, depth: usize) -> Value {
    if let Some(first) = schema.get("enum").and_then(Value::as_array).and_then(|values| values.first()) {
        return first.clone();
    }
    if let Some(only) = schema.get("const") {
        return only.clone();
    }
    let kind = schema.get("type");
    let kind = kind.and_then(Value::as_str).or_else(|| kind?.as_array()?.first()?.as_str());
    match kind.map(str::to_ascii_lowercase).as_deref() {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(false),
        Some("null") => Value::Null,
        Some("array") if name == "command" => json!(["bash", "-lc", "echo ok"]),
        Some("array") => json!([]),
        Some("string") if name == "command" || name == "cmd" => json!("echo ok"),
        Some("string") => json!("x"),
        _ if name.is_empty() || schema.get("properties").is_some() => sample_object(schema, depth),
        _ => json!("x"),
    }
}

fn sample_object(schema: &Value, depth: usize) -> Value {
    let required = schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str).filter(|_| depth > 0);
    let properties = schema.get("properties");
    let member = |name: &str| {
        let schema = properties.and_then(|properties| properties.get(name)).unwrap_or(&Value::Null);
        (name.to_owned(), sample(schema, name, depth.saturating_sub(1)))
    };
    Value::Object(names.map(member).collect::<Map<String, Value>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_call_matches_the_schema() {
        let shell = json!({"type": "object", "required": ["command", "mode", "limit"], "properties": {
            "command": {"type": "string"}, "mode": {"enum": ["fast", "slow"]},
            "limit": {"type": ["integer", "null"]}, "note": {"type": "string"}}});
        let request_info = RequestInfo {
            wire: WireKind::Chat,
            model: "m".into(),
            delivery: Delivery::Stream,
            tools: vec![
                OfferedTool { name: "read".into(), schema: Value::Null },
                OfferedTool { name: "shell".into(), schema: shell },
            ],
            ends_with_tool_result: false,
            extras: RequestedExtras::default(),
        };
        let tool = request_info.any_tool().unwrap();
        assert_eq!(tool.name, "shell");
        assert_eq!(tool.arguments(), json!({"command": "echo ok", "mode": "fast", "limit": 1}));
        assert_eq!(request_info.tools[0].arguments(), json!({}));
    }
}
