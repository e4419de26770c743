//! The subset of OpenAPI schemas that Gemini's `parameters` and `responseSchema` accept.

use serde_json::Value;

use crate::server::wire::check::{has, text};

/// The fields of a schema.
const FIELDS: [&str; 23] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "minimum",
    "maximum",
    "prefixItems",
];
/// The types, in upper or lower case.
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];

/// What is wrong with a schema at `position`.
pub(super) fn openapi_problem(schema: &Value, position: &str) -> Option<String> {
    problem(schema, position, 32)
}

fn problem(schema: &Value, position: &str, depth: usize) -> Option<String> {
    let Some(fields) = schema.as_object() else {
        return Some(format!(
            "Invalid value at '{position}' (type.googleapis.com/google.ai.generativelanguage.v1beta.Schema), {schema}"
        ));
    };
    if depth == 0 {
        return Some(format!("Schema at '{position}' is nested too deeply."));
    }
    if let Some(key) = fields.keys().find(|key| !FIELDS.contains(&key.as_str())) {
        return Some(format!(
            "Invalid JSON payload received. Unknown name \"{key}\" at '{position}': Cannot find field."
        ));
    }
    if fields.get("type").is_some_and(Value::is_array) {
        return Some(format!("Proto field is not repeating, cannot start list. ('{position}.type')"));
    }
    let kind = text(schema, "type").to_ascii_lowercase();
    if has(schema, "type") && !TYPES.contains(&kind.as_str()) {
        return Some(format!("Invalid value at '{position}.type', \"{kind}\""));
    }
    if has(schema, "enum") && kind != "string" {
        return Some(format!("* {position}.enum: only allowed for STRING type"));
    }
    if kind == "array" && !has(schema, "items") {
        return Some(format!("* {position}.items: missing field."));
    }
    let properties = fields.get("properties").and_then(Value::as_object);
    for name in crate::server::wire::check::items(schema, "required") {
        let is_known =
            properties.is_some_and(|known| name.as_str().is_some_and(|name| known.contains_key(name)));
        if !is_known {
            return Some(format!("* {position}.required: property is not defined: {name}"));
        }
    }
    let members = properties.into_iter().flatten();
    let mut inner = members.map(|(name, member)| (member, format!("{position}.properties[{name}]")));
    inner
        .find_map(|(member, position)| problem(member, &position, depth - 1))
        .or_else(|| problem(fields.get("items")?, &format!("{position}.items"), depth - 1))
        .or_else(|| {
            let options = fields.get("anyOf")?.as_array()?;
            options.iter().find_map(|option| problem(option, &format!("{position}.any_of"), depth - 1))
        })
}
