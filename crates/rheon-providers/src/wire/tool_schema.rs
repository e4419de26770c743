//! Parameter schemas as all services accept them: an object with properties and without alternatives at the top level.
//! Pure.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Keywords that services refuse at the top level.
const REFUSED: [&str; 9] = ["$ref", "allOf", "anyOf", "oneOf", "not", "enum", "const", "if", "then"];

/// How deeply alternatives may be nested; deeper ones are ignored.
const DEPTH_MAX: usize = 8;

/// `schema` as services accept it; borrowed if it is accepted unchanged.
///
/// A top level that is a reference or has alternatives becomes one object with all their properties: it allows at
/// least what `schema` allows, and the tool validates its arguments anyway.
pub(super) fn arguments_schema(schema: &Value) -> Cow<'_, Value> {
    let Value::Object(fields) = schema else {
        return Cow::Owned(json!({ "type": "object", "properties": {} }));
    };
    let plain = fields.get("type").is_some_and(|kind| kind == "object")
        && fields.get("properties").is_some_and(Value::is_object)
        && !REFUSED.iter().any(|key| fields.contains_key(*key));
    if plain {
        return Cow::Borrowed(schema);
    }
    let mut parts = ObjectParts::default();
    parts.take(fields, schema, DEPTH_MAX);
    let mut fields = fields.clone();
    fields.retain(|key, _| !REFUSED.contains(&key.as_str()) && key != "else");
    fields.insert("type".to_owned(), "object".into());
    fields.insert("properties".to_owned(), Value::Object(parts.properties));
    match parts.required.is_empty() {
        true => fields.remove("required"),
        false => fields.insert("required".to_owned(), parts.required.into_iter().collect()),
    };
    Cow::Owned(Value::Object(fields))
}

/// The properties and required keys of a schema and its alternatives.
#[derive(Default)]
struct ObjectParts {
    properties: Map<String, Value>,
    required: BTreeSet<String>,
}

impl ObjectParts {
    /// Adds `fields`, a schema somewhere below `root`.
    fn take(&mut self, fields: &Map<String, Value>, root: &Value, depth: usize) {
        if let Some(Value::Object(properties)) = fields.get("properties") {
            for (name, property) in properties {
                self.properties.entry(name.as_str()).or_insert_with(|| property.clone());
            }
        }
        let required = fields.get("required").and_then(Value::as_array).into_iter().flatten();
        self.required.extend(required.filter_map(Value::as_str).map(str::to_owned));
        let Some(depth) = depth.checked_sub(1) else { return };
        if let Some(target) = fields.get("$ref").and_then(|reference| resolve(reference, root)) {
            self.take(target, root, depth);
        }
        for part in alternatives(fields, "allOf") {
            self.take(part, root, depth);
        }
        for key in ["anyOf", "oneOf"] {
            self.take_one_of(alternatives(fields, key), root, depth);
        }
    }

    /// Only keys that all alternatives require are required.
    fn take_one_of<'a>(
        &mut self,
        alternatives: impl Iterator<Item = &'a Map<String, Value>>,
        root: &Value,
        depth: usize,
    ) {
        let mut shared: Option<BTreeSet<String>> = None;
        for alternative in alternatives {
            let mut one = Self::default();
            one.take(alternative, root, depth);
            for (name, property) in one.properties {
                self.properties.entry(name).or_insert(property);
            }
            shared = Some(match shared {
                Some(shared) => shared.intersection(&one.required).cloned().collect(),
                None => one.required,
            });
        }
        self.required.extend(shared.into_iter().flatten());
    }
}

/// The schemas under `key`.
fn alternatives<'a>(
    fields: &'a Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = &'a Map<String, Value>> + use<'a> {
    fields.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

/// The target of a reference within `root`.
fn resolve<'a>(reference: &Value, root: &'a Value) -> Option<&'a Map<String, Value>> {
    root.pointer(reference.as_str()?.strip_prefix('#')?)?.as_object()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(schema: Value) -> Value {
        arguments_schema(&schema).into_owned()
    }

    #[test]
    fn accepted_schema_is_sent_unchanged() {
        let schema = json!({
            "type": "object",
            "properties": { "a": { "anyOf": [{ "type": "string" }, { "$ref": "#/$defs/b" }] } },
            "$defs": { "b": { "type": "integer" } },
        });
        assert!(matches!(arguments_schema(&schema), Cow::Borrowed(_)));
    }

    #[test]
    fn other_schemas_become_an_object_with_properties() {
        let empty = json!({ "type": "object", "properties": {} });
        for schema in [json!(null), json!(true), json!([]), json!({}), json!({ "type": "object" })] {
            assert_eq!(sent(schema), empty);
        }
        assert_eq!(sent(json!({ "type": ["object", "null"], "properties": null })), empty);
        let described = json!({ "description": "d", "properties": { "a": true }, "required": ["a"] });
        assert_eq!(
            sent(described),
            json!({ "type": "object", "description": "d", "properties": { "a": true }, "required": ["a"] })
        );
    }

    #[test]
    fn top_level_alternatives_become_one_object() {
        let schema = json!({
            "oneOf": [
                { "type": "object", "properties": { "id": {}, "name": {} }, "required": ["id", "name"] },
                { "$ref": "#/$defs/by_path" },
            ],
            "allOf": [{ "properties": { "always": {} }, "required": ["always"] }],
            "properties": { "own": {} },
            "not": { "required": ["other"] },
            "$defs": { "by_path": { "properties": { "id": {}, "path": {} }, "required": ["id", "path"] } },
        });
        assert_eq!(
            sent(schema),
            json!({
                "type": "object",
                "properties": { "always": {}, "id": {}, "name": {}, "own": {}, "path": {} },
                "required": ["always", "id"],
                "$defs": { "by_path": { "properties": { "id": {}, "path": {} }, "required": ["id", "path"] } },
            })
        );
    }

    #[test]
    fn top_level_reference_is_resolved_and_cycles_end() {
        let schema = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "properties": { "x": {} } } } });
        assert_eq!(sent(schema)["properties"], json!({ "x": {} }));
        let circle = json!({ "$ref": "#", "anyOf": [{ "$ref": "#" }, { "$ref": "#/anyOf/0" }] });
        assert_eq!(sent(circle), json!({ "type": "object", "properties": {} }));
        let elsewhere = json!({ "$ref": "https://example.com/a.json" });
        assert_eq!(sent(elsewhere), json!({ "type": "object", "properties": {} }));
    }
}
