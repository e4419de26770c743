//! Schemas without references, for models.

use serde_json::{Map, Value, json};

use super::document::Document;

/// How deep references are followed, and how many values a schema may have.
const DEPTH_MAX: usize = 24;
const VALUES_MAX: usize = 4_000;

/// What models and validators cannot use.
const LEFT_OUT: [&str; 6] = ["xml", "externalDocs", "example", "examples", "discriminator", "$schema"];

/// The schema with its references replaced by what they name. Cycles, and what is too deep or too much, become "anything".
pub(super) fn inlined(document: &Document, schema: &Value) -> Value {
    let mut inliner = Inliner { document, open: Vec::new(), values: 0 };
    inliner.value(schema, 0)
}

struct Inliner<'a> {
    document: &'a Document,
    /// The references that are being replaced.
    open: Vec<String>,
    values: usize,
}

impl Inliner<'_> {
    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        self.values += 1;
        if depth > DEPTH_MAX || self.values > VALUES_MAX {
            return json!({});
        }
        match schema {
            Value::Object(fields) => match fields.get("$ref").and_then(Value::as_str) {
                Some(reference) => self.reference(reference, depth),
                None => self.object(fields, depth),
            },
            Value::Array(items) => {
                Value::Array(items.iter().map(|item| self.value(item, depth + 1)).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
        }
    }

    fn reference(&mut self, reference: &str, depth: usize) -> Value {
        if self.open.iter().any(|open| open == reference) {
            return json!({});
        }
        let target = reference.strip_prefix('#').and_then(|pointer| self.document.root().pointer(pointer));
        let Some(target) = target else { return json!({}) };
        self.open.push(reference.to_owned());
        let inlined = self.value(target, depth + 1);
        self.open.pop();
        inlined
    }

    fn object(&mut self, fields: &Map<String, Value>, depth: usize) -> Value {
        let mut inlined = Map::new();
        let is_nullable = fields.get("nullable").and_then(Value::as_bool).unwrap_or(false);
        for (key, value) in fields {
            let value = match key.as_str() {
                // The word of version 3.0 for a further type.
                "nullable" => continue,
                key if LEFT_OUT.contains(&key) || key.starts_with("x-") => continue,
                // Numbers in version 3.1, flags in 3.0.
                "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => continue,
                "description" | "title" => match value.as_str() {
                    Some(text) => Value::String(crate::mcp::clean_text(text, 1_000)),
                    None => continue,
                },
                // Names of properties are not keywords.
                "properties" | "patternProperties" | "$defs" | "definitions" => self.properties(value, depth),
                "type" if is_nullable && value.is_string() => json!([value, "null"]),
                // What the type allows may still be forbidden by the list.
                "enum" if is_nullable => with_null(value),
                _ => self.value(value, depth + 1),
            };
            inlined.insert(key.clone(), value);
        }
        Value::Object(inlined)
    }

    fn properties(&mut self, properties: &Value, depth: usize) -> Value {
        let fields = properties.as_object().into_iter().flatten();
        Value::Object(fields.map(|(name, schema)| (name.clone(), self.value(schema, depth + 1))).collect())
    }
}

fn with_null(values: &Value) -> Value {
    let mut values = values.as_array().cloned().unwrap_or_default();
    if !values.contains(&Value::Null) {
        values.push(Value::Null);
    }
    Value::Array(values)
}
