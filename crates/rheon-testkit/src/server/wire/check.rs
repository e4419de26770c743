//! Checks shared by the wires. Pure.

use serde_json::Value;

use crate::server::refusal::{Refusal, invalid};
use crate::server::request_info::OfferedTool;

/// Type names of JSON Schema.
const SCHEMA_TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// The text at `key`, or "".
pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The items at `key`; empty if there are none.
pub(super) fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Whether `value` has anything but `null` at `key`.
pub(super) fn has(value: &Value, key: &str) -> bool {
    value.get(key).is_some_and(|value| !value.is_null())
}

/// Whether `name` consists of letters, digits, `_` and `-` and is 1 to `max` long.
pub(super) fn is_word(name: &str, max: usize) -> bool {
    (1..=max).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// Whether `data` is base64 of at least one byte.
pub(super) fn is_base64(data: &str) -> bool {
    use base64::Engine as _;
    !data.is_empty() && base64::engine::general_purpose::STANDARD.decode(data).is_ok()
}

/// Refuses the first key of an object that is not in `known`.
pub(super) fn only_keys(
    value: &Value,
    known: &[&str],
    message: impl FnOnce(&str) -> String,
) -> Result<(), Refusal> {
    let unknown =
        value.as_object().and_then(|object| object.keys().find(|key| !known.contains(&key.as_str())));
    match unknown {
        Some(key) => invalid(message(key)),
        None => Ok(()),
    }
}

/// What is wrong with a JSON Schema that must describe an object.
pub(super) fn object_schema_problem(schema: &Value) -> Option<String> {
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => schema_problem(schema, "", 64),
        Some(other) => {
            Some(format!("schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{other}\"'."))
        }
        None => Some("schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'.".to_owned()),
    }
}

/// What is wrong with a JSON Schema at `position`, at most `depth` levels deep.
pub(super) fn schema_problem(schema: &Value, position: &str, depth: usize) -> Option<String> {
    let schema = match schema {
        Value::Bool(_) => return None,
        Value::Object(schema) => schema,
        _ => return Some(format!("{schema} at '{position}' is not of type 'object', 'boolean'")),
    };
    if depth == 0 {
        return Some(format!("nested too deeply at '{position}'"));
    }
    let bad_type = |name: &Value| !name.as_str().is_some_and(|name| SCHEMA_TYPES.contains(&name));
    match schema.get("type") {
        Some(Value::Array(names)) if names.is_empty() || names.iter().any(bad_type) => {
            return Some(format!("unknown type at '{position}'"));
        }
        None | Some(Value::Array(_)) => {}
        Some(name) if bad_type(name) => return Some(format!("{name} at '{position}' is not a type")),
        Some(_) => {}
    }
    if schema.get("required").is_some_and(|names| !is_list(names, Value::is_string)) {
        return Some(format!("'required' at '{position}' is not an array of names"));
    }
    if schema
        .get("enum")
        .is_some_and(|values| !is_list(values, |_| true) || values.as_array().is_some_and(Vec::is_empty))
    {
        return Some(format!("'enum' at '{position}' is not a list of values"));
    }
    for key in ["properties", "$defs", "definitions", "patternProperties"] {
        let Some(members) = schema.get(key) else { continue };
        let Some(members) = members.as_object() else {
            return Some(format!("'{key}' at '{position}' is not an object"));
        };
        for (name, member) in members {
            if let Some(problem) = schema_problem(member, &format!("{position}/{key}/{name}"), depth - 1) {
                return Some(problem);
            }
        }
    }
    for key in ["items", "additionalProperties", "not"] {
        if let Some(problem) =
            schema.get(key).and_then(|member| schema_problem(member, &format!("{position}/{key}"), depth - 1))
        {
            return Some(problem);
        }
    }
    ["anyOf", "oneOf", "allOf"].into_iter().find_map(|key| {
        let members = schema.get(key)?;
        let Some(list) = members.as_array().filter(|list| !list.is_empty()) else {
            return Some(format!("'{key}' at '{position}' is not a list of schemas"));
        };
        list.iter().find_map(|member| schema_problem(member, &format!("{position}/{key}"), depth - 1))
    })
}

fn is_list(value: &Value, each: impl Fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|values| values.iter().all(each))
}

/// What violates OpenAI's strict mode: every object closed, every property required.
pub(super) fn strict_problem(schema: &Value) -> Option<String> {
    if schema.get("type").and_then(Value::as_str) == Some("object") {
        if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
            return Some("'additionalProperties' is required to be supplied and to be false.".to_owned());
        }
        let required = items(schema, "required");
        let names = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, member) in names {
            if !required.iter().any(|required| required == name) {
                return Some(format!(
                    "'required' is required to be supplied and to be an array including every key in properties. \
                     Missing '{name}'."
                ));
            }
            if let Some(problem) = strict_problem(member) {
                return Some(problem);
            }
        }
    }
    schema.get("items").and_then(strict_problem)
}

/// The path of the first object in `schema` without `additionalProperties: false`, at most `depth` levels deep.
pub(super) fn open_object(schema: &Value, position: &str, depth: usize) -> Option<String> {
    if depth == 0 {
        return None;
    }
    let is_object = schema.get("type").and_then(Value::as_str) == Some("object");
    if is_object && schema.get("additionalProperties") != Some(&Value::Bool(false)) {
        return Some(position.to_owned());
    }
    let members = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let in_members = members
        .filter_map(|(name, member)| open_object(member, &format!("{position}.properties.{name}"), depth - 1))
        .next();
    in_members.or_else(|| open_object(schema.get("items")?, &format!("{position}.items"), depth - 1))
}

/// The tools in objects with a name and a schema at these keys.
pub(super) fn offered<'a>(
    tools: impl IntoIterator<Item = &'a Value>,
    name: &str,
    schemas: &[&str],
) -> Vec<OfferedTool> {
    let offered = |tool: &Value| {
        let schema = schemas.iter().find_map(|key| tool.pointer(key)).cloned().unwrap_or_default();
        Some(OfferedTool { name: tool.pointer(name)?.as_str()?.to_owned(), schema })
    };
    tools.into_iter().filter_map(offered).collect()
}
