//! `Parameter`: one parameter of an operation, and how its value is written.

use serde_json::Value;

use super::document::Document;

/// Where a parameter goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterPlace {
    Path,
    Query,
    Header,
    Cookie,
}

/// How a list or an object is written in the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterStyle {
    /// `a=1&a=2`, or `a=1,2` without exploding.
    Form,
    /// `a=1%202`.
    Space,
    /// `a=1|2`.
    Pipe,
    /// `a[x]=1&a[y]=2`.
    DeepObject,
}

/// One parameter.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub(super) name: String,
    /// Its name among the arguments: the same, unless two parameters share it.
    pub(super) argument: String,
    pub(super) place: ParameterPlace,
    pub(super) is_required: bool,
    pub(super) style: ParameterStyle,
    pub(super) explodes: bool,
    pub(super) description: String,
    pub(super) schema: Value,
}

impl Parameter {
    /// The error says what is wrong with it.
    pub(super) fn read(document: &Document, value: &Value) -> Result<Self, String> {
        let value = document.resolve(value).ok_or("a parameter refers to something that does not exist")?;
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let name = text("name").filter(|name| !name.is_empty()).ok_or("a parameter has no name")?.to_owned();
        let place = match text("in") {
            Some("path") => ParameterPlace::Path,
            Some("query") => ParameterPlace::Query,
            Some("header") => ParameterPlace::Header,
            Some("cookie") => ParameterPlace::Cookie,
            Some(other) => return Err(format!("the parameter {name:?} is in {other:?}")),
            None => return Err(format!("the parameter {name:?} does not say where it goes")),
        };
        let style = match text("style") {
            Some("spaceDelimited") => ParameterStyle::Space,
            Some("pipeDelimited") => ParameterStyle::Pipe,
            Some("deepObject") => ParameterStyle::DeepObject,
            Some(_) | None => ParameterStyle::Form,
        };
        let is_form = style == ParameterStyle::Form && place == ParameterPlace::Query;
        let in_content = || value.get("content")?.as_object()?.values().next()?.get("schema");
        let schema = value.get("schema").or_else(in_content).cloned().unwrap_or(Value::Bool(true));
        Ok(Self {
            argument: name.clone(),
            place,
            is_required: place == ParameterPlace::Path
                || value.get("required").and_then(Value::as_bool).unwrap_or(false),
            style,
            explodes: value.get("explode").and_then(Value::as_bool).unwrap_or(is_form),
            description: text("description").unwrap_or_default().to_owned(),
            schema: if schema.is_object() { schema } else { Value::Object(serde_json::Map::new()) },
            name,
        })
    }

    /// The pairs of the query for a value.
    pub(super) fn query(&self, value: &Value) -> Vec<(String, String)> {
        let separator = match self.style {
            ParameterStyle::Form | ParameterStyle::DeepObject => ",",
            ParameterStyle::Space => " ",
            ParameterStyle::Pipe => "|",
        };
        let pair = |value: String| (self.name.clone(), value);
        match value {
            Value::Null => Vec::new(),
            Value::Array(items) if self.explodes => items.iter().map(plain).map(pair).collect(),
            Value::Array(items) => vec![pair(joined(items.iter().map(plain), separator))],
            Value::Object(fields) if self.style == ParameterStyle::DeepObject => {
                fields.iter().map(|(key, value)| (format!("{}[{key}]", self.name), plain(value))).collect()
            }
            Value::Object(fields) if self.explodes => {
                fields.iter().map(|(key, value)| (key.clone(), plain(value))).collect()
            }
            Value::Object(fields) => {
                let words = fields.iter().flat_map(|(key, value)| [key.clone(), plain(value)]);
                vec![pair(joined(words, separator))]
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) => vec![pair(plain(value))],
        }
    }

    /// The value in a path, a header or a cookie.
    pub(super) fn simple(&self, value: &Value) -> String {
        match value {
            Value::Array(items) => joined(items.iter().map(plain), ","),
            Value::Object(fields) if self.explodes => {
                joined(fields.iter().map(|(key, value)| format!("{key}={}", plain(value))), ",")
            }
            Value::Object(fields) => {
                joined(fields.iter().flat_map(|(key, value)| [key.clone(), plain(value)]), ",")
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => plain(value),
        }
    }
}

fn joined(words: impl Iterator<Item = String>, separator: &str) -> String {
    words.collect::<Vec<_>>().join(separator)
}

/// A value as text: strings without quotes.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
