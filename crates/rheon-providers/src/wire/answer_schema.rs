//! Output schemas as each service accepts them. Pure.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Keywords that Anthropic's structured output refuses.
const CLAUDE_REFUSES: [&str; 20] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "contains",
    "not",
    "if",
    "then",
    "else",
];
/// Keywords that OpenAI's strict mode does not support.
const STRICT_REFUSES: [&str; 12] = [
    "allOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "prefixItems",
];

/// `schema` as Anthropic accepts it: objects are closed, and refused keywords are removed.
pub(super) fn for_claude(schema: &Value) -> Value {
    let mut closed = schema.clone();
    each_schema(&mut closed, &mut |fields| {
        fields.retain(|key, value| match key.as_str() {
            "minItems" => value.as_u64().is_some_and(|least| least <= 1),
            key => !CLAUDE_REFUSES.contains(&key),
        });
        if let Some(alternatives) = fields.remove("oneOf") {
            fields.entry("anyOf").or_insert(alternatives);
        }
        if is_object(fields) {
            fields.insert("additionalProperties".to_owned(), false.into());
        }
    });
    closed
}

/// An output schema for OpenAI.
#[derive(Debug, PartialEq)]
pub(super) struct OpenAiSchema<'a> {
    /// Whether strict mode is used.
    pub(super) strict: bool,
    pub(super) schema: Cow<'a, Value>,
}

/// `schema` as OpenAI accepts it. Strict mode requires closed objects with all properties required, and the service
/// refuses the whole request otherwise. An optional property that may be null is required there: the model writes null.
/// Other schemas that do not fit are sent without strict mode.
pub(super) fn for_openai(schema: &Value) -> OpenAiSchema<'_> {
    let top = schema.as_object().is_some_and(|fields| is_object(fields) && !fields.contains_key("anyOf"));
    let mut strict = top;
    let mut closed = schema.clone();
    each_schema(&mut closed, &mut |fields| {
        if is_object(fields) {
            fields.entry("additionalProperties").or_insert(false.into());
            require_nullable(fields);
        }
        fields.remove("default");
        let known = !STRICT_REFUSES.iter().any(|key| fields.contains_key(*key));
        strict = strict && known && (!is_object(fields) || requires_all(fields));
    });
    let schema = if strict { Cow::Owned(closed) } else { Cow::Borrowed(schema) };
    OpenAiSchema { strict, schema }
}

fn is_object(fields: &Map<String, Value>) -> bool {
    match fields.get("type") {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) => false,
        None => fields.contains_key("properties"),
    }
}

/// Requires the properties that may be null.
fn require_nullable(fields: &mut Map<String, Value>) {
    let Some(properties) = fields.get("properties").and_then(Value::as_object) else { return };
    let nullable: Vec<Value> = properties
        .iter()
        .filter(|(_, schema)| accepts_null(schema))
        .map(|(name, _)| Value::from(name.as_str()))
        .collect();
    let required = fields.entry("required").or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(required) = required {
        for name in nullable {
            if !required.contains(&name) {
                required.push(name);
            }
        }
    }
}

fn accepts_null(schema: &Value) -> bool {
    let is_null = |kind: &Value| kind == "null";
    match (schema.get("type"), schema.get("anyOf")) {
        (Some(Value::Array(kinds)), _) => kinds.iter().any(is_null),
        (Some(kind), _) => is_null(kind),
        (None, Some(Value::Array(choices))) => choices.iter().any(accepts_null),
        (None, _) => false,
    }
}

fn requires_all(fields: &Map<String, Value>) -> bool {
    let closed = fields.get("additionalProperties").is_some_and(|open| open == false);
    let required = fields.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|required| required.iter().any(|key| key == name));
    let properties = fields.get("properties").and_then(Value::as_object);
    closed && properties.is_none_or(|properties| properties.keys().all(is_required))
}

/// Calls `visit` for every schema in `schema`, outer ones first. Property names and data are not schemas.
fn each_schema(schema: &mut Value, look: &mut impl FnMut(&mut Map<String, Value>)) {
    let Value::Object(fields) = schema else { return };
    look(fields);
    for (key, value) in fields.iter_mut() {
        match (key.as_str(), value) {
            ("properties" | "patternProperties" | "$defs" | "definitions", Value::Object(named)) => {
                named.values_mut().for_each(|value| each_schema(value, look));
            }
            ("const" | "enum" | "default" | "examples", _) => {}
            (_, Value::Array(items)) => items.iter_mut().for_each(|item| each_schema(item, look)),
            (_, value) => each_schema(value, look),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_closed_and_refused_keywords_are_removed() {
        let schema = json!({
            "type": "object",
            "properties": {
                "minimum": { "type": "integer", "minimum": 1, "description": "d" },
                "list": { "type": "array", "minItems": 2, "maxItems": 3, "items": { "$ref": "#/$defs/o" } },
                "one": { "type": "array", "minItems": 1, "items": { "enum": [{ "type": "object" }] } },
                "either": { "oneOf": [{ "type": "string", "pattern": "x" }, { "type": "null" }] },
            },
            "additionalProperties": true,
            "$defs": { "o": { "properties": { "a": {} } } },
        });
        assert_eq!(
            for_claude(&schema),
            json!({
                "type": "object",
                "properties": {
                    "minimum": { "type": "integer", "description": "d" },
                    "list": { "type": "array", "items": { "$ref": "#/$defs/o" } },
                    "one": { "type": "array", "minItems": 1, "items": { "enum": [{ "type": "object" }] } },
                    "either": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
                },
                "additionalProperties": false,
                "$defs": { "o": { "properties": { "a": {} }, "additionalProperties": false } },
            })
        );
    }

    #[test]
    fn only_fully_required_objects_are_strict() {
        let object = |extra: Value| {
            let mut schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
            schema.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            schema
        };
        let nested = |inner: &Value, closed: &Value| {
            json!({
                "type": "object", "properties": { "x": { "anyOf": [inner, { "type": "null" }] } },
                "required": ["x"], "additionalProperties": closed,
            })
        };
        let strict = object(json!({ "required": ["a"], "additionalProperties": false }));
        assert_eq!(for_openai(&strict), OpenAiSchema { strict: true, schema: Cow::Borrowed(&strict) });
        let open = nested(&object(json!({ "required": ["a"] })), &json!(false));
        let closed = OpenAiSchema { strict: true, schema: Cow::Owned(nested(&strict, &json!(false))) };
        assert_eq!(for_openai(&open), closed);
        let optional = json!({
            "type": "object",
            "properties": {
                "a": { "type": "string" },
                "note": { "type": ["string", "null"], "default": null },
                "part": { "anyOf": [{ "$ref": "#/$defs/p" }, { "type": "null" }] },
            },
            "required": ["a"],
            "$defs": { "p": { "type": "object", "properties": {}, "additionalProperties": false } },
        });
        let all_required = json!({
            "type": "object",
            "properties": {
                "a": { "type": "string" },
                "note": { "type": ["string", "null"] },
                "part": { "anyOf": [{ "$ref": "#/$defs/p" }, { "type": "null" }] },
            },
            "required": ["a", "note", "part"],
            "additionalProperties": false,
            "$defs": {
                "p": { "type": "object", "properties": {}, "additionalProperties": false, "required": [] },
            },
        });
        let strict_optional = OpenAiSchema { strict: true, schema: Cow::Owned(all_required) };
        assert_eq!(for_openai(&optional), strict_optional);
        let loose = [
            object(json!({})),
            object(json!({ "required": ["a"], "additionalProperties": true })),
            nested(&object(json!({})), &json!(false)),
            json!({ "anyOf": [strict] }),
            json!({ "type": "string" }),
            json!(true),
        ];
        for schema in &loose {
            assert_eq!(for_openai(schema), OpenAiSchema { strict: false, schema: Cow::Borrowed(schema) });
        }
    }
}
