//! The schema for a step: a call of one of the tools, or the final answer.
//!
//! The keys of a call are named so that the tool's name comes first in alphabetical order, which is the order in which
//! schemas are written: servers that compile a schema to a grammar keep it. A model that has to write the arguments
//! before the tool's name picks no tool at all.

use rheon_types::{OutputSchema, Request, ToolChoice, ToolDefinition};
use serde_json::{Map, Value, json};

pub(super) const NAME: &str = "name";
pub(super) const ARGUMENTS: &str = "parameters";
pub(super) const ANSWER: &str = "answer";

/// This many tools get their own alternative; the others share one, by name and with any arguments.
pub(super) const ALTERNATIVES_MAX: usize = 32;
/// A larger tool schema is replaced by any object.
pub(super) const TOOL_SCHEMA_BYTES_MAX: usize = 8 * 1024;

/// What a response may be.
#[derive(Debug)]
pub(super) struct Alternatives<'a> {
    /// Tools that may be called.
    pub(super) tools: Vec<&'a ToolDefinition>,
    /// Whether a final answer is allowed.
    answer: bool,
}

impl<'a> Alternatives<'a> {
    /// What the tool choice of `request` allows. A choice that allows nothing is ignored.
    pub(super) fn of(request: &'a Request) -> Self {
        let all = || request.tools.iter().collect::<Vec<_>>();
        match &request.tool_choice {
            ToolChoice::Auto => Self { tools: all(), answer: true },
            ToolChoice::None => Self { tools: Vec::new(), answer: true },
            ToolChoice::Required => Self { tools: all(), answer: false },
            ToolChoice::Tool(name) => {
                let only: Vec<_> = request.tools.iter().filter(|tool| tool.name == *name).collect();
                Self { tools: if only.is_empty() { all() } else { only }, answer: false }
            }
        }
    }

    /// The schema. The final answer has the schema `own`, or is a string.
    pub(super) fn schema(&self, own: Option<&OutputSchema>) -> OutputSchema {
        let mut shared = Map::new();
        let mut forms = Vec::new();
        let alone = if self.tools.len() > ALTERNATIVES_MAX { ALTERNATIVES_MAX - 1 } else { ALTERNATIVES_MAX };
        for tool in self.tools.iter().take(alone) {
            let key = format!("tool{}", forms.len());
            let arguments = embed(key, &arguments_schema(&tool.parameters), &mut shared);
            forms.push(call(json!({ "const": tool.name }), arguments));
        }
        let others: Vec<_> = self.tools.iter().skip(alone).map(|tool| &tool.name).collect();
        if !others.is_empty() {
            forms.push(call(json!({ "enum": others }), json!({ "type": "object" })));
        }
        if self.answer {
            let form = own.map_or_else(
                || json!({ "type": "string" }),
                |own| embed("answer".to_owned(), &own.schema, &mut shared),
            );
            forms.push(object(&[(ANSWER, form)]));
        }
        let mut schema = match forms.len() {
            1 => forms.pop().unwrap_or_default(),
            _ => json!({ "oneOf": forms }),
        };
        if let (Value::Object(fields), false) = (&mut schema, shared.is_empty()) {
            fields.insert("$defs".to_owned(), Value::Object(shared));
        }
        OutputSchema { name: "step".to_owned(), schema }
    }
}

fn call(name: Value, arguments: Value) -> Value {
    object(&[(NAME, name), (ARGUMENTS, arguments)])
}

fn object(fields: &[(&str, Value)]) -> Value {
    let required: Vec<&str> = fields.iter().map(|(key, _)| *key).collect();
    let properties: Map<String, Value> =
        fields.iter().map(|(key, schema)| ((*key).to_owned(), schema.clone())).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn arguments_schema(parameters: &Value) -> Value {
    if !parameters.is_object() || parameters.to_string().len() > TOOL_SCHEMA_BYTES_MAX {
        return json!({ "type": "object" });
    }
    parameters.clone()
}

/// Embeds `schema` in a larger one. References are relative to the root, so a schema with references moves to the
/// root's `$defs`.
fn embed(key: String, schema: &Value, shared: &mut Map<String, Value>) -> Value {
    let mut moved = schema.clone();
    let root = format!("#/$defs/{key}");
    if rebase(&mut moved, &root) == 0 {
        return moved;
    }
    shared.insert(key, moved);
    json!({ "$ref": root })
}

/// Makes the references of `schema` start at `root`; returns how many there are.
fn rebase(schema: &mut Value, root: &str) -> usize {
    match schema {
        Value::Object(fields) => fields
            .iter_mut()
            .map(|(key, value)| match (key.as_str(), value) {
                ("$ref", Value::String(reference)) => {
                    let Some(path) = reference.strip_prefix('#') else { return 0 };
                    *reference = format!("{root}{path}");
                    1
                }
                // Here keys are property names, not keywords.
                ("properties" | "patternProperties" | "$defs" | "definitions", Value::Object(named)) => {
                    named.values_mut().map(|value| rebase(value, root)).sum()
                }
                // Data, not schemas.
                ("const" | "enum" | "default" | "examples", _) => 0,
                (_, value) => rebase(value, root),
            })
            .sum(),
        Value::Array(items) => items.iter_mut().map(|item| rebase(item, root)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}
