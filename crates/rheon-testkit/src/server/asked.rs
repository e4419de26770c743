//! `Asked`: what a request wants, whatever its wire.

use rheon_providers::wire::WireKind;
use serde_json::{Map, Value, json};

/// What a request wants, as its wire's validation found it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    /// What it is written in.
    pub(crate) wire: WireKind,
    /// The model, as the request names it.
    pub(crate) model: String,
    /// How the answer is wanted.
    pub(crate) delivery: Delivery,
    /// The tools on offer.
    pub(crate) tools: Vec<Offered>,
    /// Whether the conversation ends with the result of a tool.
    pub(crate) ends_with_tool_result: bool,
    /// Extras that the service sends only if asked to.
    pub(crate) wants: Wants,
}

/// How an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// As a stream of events.
    Stream,
    /// As a stream of the items of one JSON array (Gemini without `alt=sse`).
    ArrayStream,
    /// As one JSON body.
    Whole,
}

/// Extras that a service sends only if asked to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Wants {
    /// Usage at the end of the stream (chat).
    pub(crate) usage: bool,
    /// Thinking in encrypted form (Responses).
    pub(crate) encrypted_thinking: bool,
}

/// One tool on offer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Offered {
    /// Its name.
    pub(crate) name: String,
    /// The schema of its arguments; `null` where it has none.
    pub(crate) schema: Value,
}

impl Asked {
    /// The tool that a made-up call uses: one that runs a command, because it can be called again and again, or else the
    /// first.
    pub(crate) fn any_tool(&self) -> Option<&Offered> {
        let runs = |tool: &&Offered| {
            let required = tool.schema.get("required").and_then(Value::as_array);
            required.is_some_and(|names| names.iter().any(|name| name == "command" || name == "cmd"))
        };
        self.tools.iter().find(runs).or_else(|| self.tools.first())
    }
}

impl Offered {
    /// Arguments that its schema takes: every required one, and nothing else.
    pub(crate) fn arguments(&self) -> Value {
        sample(&self.schema, "", 8)
    }
}

/// A value that `schema` takes, for the property `name`, at most `depth` levels deep.
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
    fn a_made_up_call_fits_the_schema_of_a_tool_that_runs_commands() {
        let shell = json!({"type": "object", "required": ["command", "mode", "limit"], "properties": {
            "command": {"type": "string"}, "mode": {"enum": ["fast", "slow"]},
            "limit": {"type": ["integer", "null"]}, "note": {"type": "string"}}});
        let asked = Asked {
            wire: WireKind::Chat,
            model: "m".into(),
            delivery: Delivery::Stream,
            tools: vec![
                Offered { name: "read".into(), schema: Value::Null },
                Offered { name: "shell".into(), schema: shell },
            ],
            ends_with_tool_result: false,
            wants: Wants::default(),
        };
        let tool = asked.any_tool().unwrap();
        assert_eq!(tool.name, "shell");
        assert_eq!(tool.arguments(), json!({"command": "echo ok", "mode": "fast", "limit": 1}));
        assert_eq!(asked.tools[0].arguments(), json!({}));
    }
}
