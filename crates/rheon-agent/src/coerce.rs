//! Coerces arguments to a schema: models write numbers as text, JSON as text, and single values where a list is expected.
//! Pure. What still does not match is refused as before.

use serde_json::{Map, Number, Value};

/// How deeply arguments are coerced.
const DEPTH_MAX: usize = 16;

/// Names under which some models wrap all arguments.
const WRAPPERS: [&str; 4] = ["arguments", "parameters", "input", "args"];

/// `value` as `schema` wants it, as far as that loses nothing.
pub(crate) fn coerced(schema: &Value, value: &Value) -> Value {
    let coercion = Coercion { root: schema };
    let value = match value {
        Value::Null => Value::Object(Map::new()),
        _ => value.clone(),
    };
    coercion.fit(schema, unwrapped(schema, value), 0)
}

/// The arguments inside a wrapper that the schema does not have.
fn unwrapped(schema: &Value, value: Value) -> Value {
    let declares = |name: &str| schema.get("properties").and_then(|named| named.get(name)).is_some();
    match value {
        Value::Object(mut fields) if fields.len() == 1 => {
            let name = WRAPPERS.into_iter().find(|name| fields.contains_key(*name) && !declares(name));
            match name.and_then(|name| fields.remove(name)) {
                Some(inner) => inner,
                None => Value::Object(fields),
            }
        }
        other => other,
    }
}

struct Coercion<'a> {
    root: &'a Value,
}

impl Coercion<'_> {
    fn fit(&self, schema: &Value, value: Value, depth: usize) -> Value {
        let schema = self.resolved(schema);
        if depth >= DEPTH_MAX {
            return value;
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(choices) = schema.get(key).and_then(Value::as_array) {
                let mut fitted =
                    choices.iter().map(|choice| (choice, self.fit(choice, value.clone(), depth + 1)));
                let found = fitted.find(|(choice, fitted)| self.accepts(choice, fitted));
                return found.map_or(value, |(_, fitted)| fitted);
            }
        }
        let kinds = kinds(schema);
        if kinds.is_empty() || kinds.iter().any(|kind| is_kind(kind, &value)) {
            return self.inside(schema, value, depth);
        }
        let converted = kinds.iter().find_map(|kind| self.convert(kind, schema, &value, depth));
        match converted {
            Some(converted) => self.inside(schema, converted, depth),
            None => value,
        }
    }

    /// Coerces the parts of a value that is of the right kind.
    fn inside(&self, schema: &Value, value: Value, depth: usize) -> Value {
        match value {
            Value::Object(fields) => Value::Object(self.fields(schema, fields, depth)),
            Value::Array(items) => match schema.get("items") {
                Some(item) => items.into_iter().map(|value| self.fit(item, value, depth + 1)).collect(),
                None => Value::Array(items),
            },
            Value::String(text) => Value::String(choice(schema, text)),
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }

    fn fields(&self, schema: &Value, fields: Map<String, Value>, depth: usize) -> Map<String, Value> {
        let Some(Value::Object(declared)) = schema.get("properties") else { return fields };
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
        let mut fitted = Map::new();
        for (key, value) in &fields {
            let same =
                || declared.keys().find(|name| plain(name) == plain(key) && !fields.contains_key(*name));
            let name = if declared.contains_key(key) { key } else { same().unwrap_or(key) };
            let Some(property) = declared.get(name) else {
                fitted.insert(key.clone(), value.clone());
                continue;
            };
            let value = self.fit(property, value.clone(), depth + 1);
            // An optional field without a value is left out.
            let is_omitted = !is_required(name) && is_blank(&value) && !self.accepts(property, &value);
            if !is_omitted {
                fitted.insert(name.clone(), value);
            }
        }
        fitted
    }

    fn convert(&self, kind: &str, schema: &Value, value: &Value, depth: usize) -> Option<Value> {
        match (kind, value) {
            ("integer", Value::String(text)) => integer(text),
            ("integer", Value::Number(number)) => whole(number.as_f64()?),
            ("number", Value::String(text)) => {
                let number: f64 = text.trim().parse().ok()?;
                integer(text).or_else(|| Number::from_f64(number).map(Value::Number))
            }
            ("boolean", Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
                "true" => Some(Value::Bool(true)),
                "false" => Some(Value::Bool(false)),
                _ => None,
            },
            ("string", Value::Number(_) | Value::Bool(_)) => Some(Value::String(value.to_string())),
            ("object", Value::String(text)) => parsed(text, Value::is_object),
            ("object", Value::Array(items)) => match items.as_slice() {
                [only @ Value::Object(_)] => Some(only.clone()),
                _ => None,
            },
            ("array", _) => self.list(schema, value, depth),
            _ => None,
        }
    }

    /// The list that `value` is the text of, or a list of `value` alone.
    fn list(&self, schema: &Value, value: &Value, depth: usize) -> Option<Value> {
        if let Value::String(text) = value
            && let Some(list) = parsed(text, Value::is_array)
        {
            return Some(list);
        }
        let item = schema.get("items")?;
        let only = self.fit(item, value.clone(), depth + 1);
        (!value.is_null() && self.accepts(item, &only)).then(|| Value::Array(vec![only]))
    }

    /// Whether `value` is of a kind that `schema` accepts, with all required fields.
    fn accepts(&self, schema: &Value, value: &Value) -> bool {
        let schema = self.resolved(schema);
        let any = |key: &str| schema.get(key).and_then(Value::as_array);
        if let Some(choices) = any("anyOf").or_else(|| any("oneOf")) {
            return choices.iter().any(|choice| self.accepts(choice, value));
        }
        let kinds = kinds(schema);
        let is_listed = any("enum").is_none_or(|values| values.contains(value));
        let has_all = match value {
            Value::Object(fields) => any("required").is_none_or(|names| {
                names.iter().all(|name| name.as_str().is_none_or(|name| fields.contains_key(name)))
            }),
            _ => true,
        };
        is_listed && has_all && (kinds.is_empty() || kinds.iter().any(|kind| is_kind(kind, value)))
    }

    fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let reference = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix('#'));
        reference.and_then(|path| self.root.pointer(path)).unwrap_or(schema)
    }
}

/// The kinds of value that a schema names; none if it names none.
fn kinds(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        Some(_) | None if schema.get("properties").is_some() => vec!["object"],
        Some(_) | None => Vec::new(),
    }
}

fn is_kind(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => matches!(text.trim(), "" | "null" | "None"),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

fn integer(text: &str) -> Option<Value> {
    let text = text.trim();
    let number = text.parse::<i64>().map(Value::from).or_else(|_| text.parse::<u64>().map(Value::from));
    number.ok().or_else(|| whole(text.parse().ok()?))
}

/// A number without a fraction, as an integer.
fn whole(number: f64) -> Option<Value> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    let is_whole = number.fract() == 0.0 && number.abs() <= EXACT_MAX;
    is_whole.then(|| Value::from(number as i64))
}

fn parsed(text: &str, is_wanted: fn(&Value) -> bool) -> Option<Value> {
    serde_json::from_str(text).ok().filter(is_wanted)
}

/// The allowed value that `text` is but for its case.
fn choice(schema: &Value, text: String) -> String {
    let allowed = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut texts = allowed.iter().filter_map(Value::as_str);
    if allowed.iter().any(|value| value == &text) {
        return text;
    }
    texts.find(|one| plain(one) == plain(&text)).map_or(text, str::to_owned)
}

/// A name without case and separators: `filePath` is `file_path`.
fn plain(name: &str) -> String {
    name.chars().filter(|letter| !"_- ".contains(*letter)).map(|letter| letter.to_ascii_lowercase()).collect()
}

#[cfg(test)]
#[path = "coerce_tests.rs"]
mod tests;
