//! `Operation`: one operation of a document, ready to be called.

use std::collections::HashSet;

use http::Method;
use serde_json::{Map, Value, json};

use super::document::Document;
use super::parameter::{Parameter, ParameterPlace};
use super::reference::inlined;

const METHODS: [(&str, Method); 8] = [
    ("get", Method::GET),
    ("put", Method::PUT),
    ("post", Method::POST),
    ("delete", Method::DELETE),
    ("options", Method::OPTIONS),
    ("head", Method::HEAD),
    ("patch", Method::PATCH),
    ("trace", Method::TRACE),
];

const DESCRIPTION_CHARS_MAX: usize = 2_000;

/// How a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyFormat {
    Json,
    Form,
    Multipart,
}

/// The body of an operation.
#[derive(Debug, Clone)]
pub(super) struct Body {
    pub(super) format: BodyFormat,
    pub(super) is_required: bool,
    pub(super) schema: Value,
    /// Its name among the arguments.
    pub(super) argument: &'static str,
}

/// One operation.
#[derive(Debug, Clone)]
pub(super) struct Operation {
    /// The `operationId`, or one derived from method and path.
    pub(super) id: String,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) tags: Vec<String>,
    pub(super) description: String,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<Body>,
}

/// All operations of a document, and what is wrong with those that are left out.
pub(super) fn operations(document: &Document) -> (Vec<Operation>, Vec<String>) {
    let (mut operations, mut warnings, mut taken) = (Vec::new(), Vec::new(), HashSet::new());
    for (path, item) in document.paths() {
        for (word, method) in METHODS {
            let Some(value) = item.get(word) else { continue };
            match Operation::read(document, item, value, method.clone(), path) {
                Ok(mut operation) => {
                    let id = operation.id.clone();
                    let mut number = 1;
                    while !taken.insert(operation.id.clone()) {
                        number += 1;
                        operation.id = format!("{id}_{number}");
                    }
                    operations.push(operation);
                }
                Err(problem) => {
                    let path = crate::mcp::clean_text(path, 200);
                    warnings.push(format!("{method} {path} is left out: {problem}"));
                }
            }
        }
    }
    (operations, warnings)
}

impl Operation {
    fn read(
        document: &Document,
        item: &Map<String, Value>,
        value: &Value,
        method: Method,
        path: &str,
    ) -> Result<Self, String> {
        let fields = value.as_object().ok_or("it is not an object")?;
        let text = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or_default();
        let id = fields.get("operationId").and_then(Value::as_str).map(str::to_owned);
        let mut parameters = parameters(document, item, fields)?;
        for name in placeholders(path) {
            let is_known = |one: &Parameter| one.place == ParameterPlace::Path && one.name == name;
            if !parameters.iter().any(is_known) {
                return Err(format!("its path has {{{name}}}, which is not a parameter"));
            }
        }
        let mut names = HashSet::new();
        for parameter in &mut parameters {
            if !names.insert(parameter.argument.clone()) {
                let place = match parameter.place {
                    ParameterPlace::Path => "path",
                    ParameterPlace::Query => "query",
                    ParameterPlace::Header => "header",
                    ParameterPlace::Cookie => "cookie",
                };
                parameter.argument = format!("{place}_{}", parameter.name);
                names.insert(parameter.argument.clone());
            }
        }
        let argument = if names.contains("body") { "_request_body" } else { "body" };
        let tags = fields.get("tags").and_then(Value::as_array).into_iter().flatten();
        let description = format!("{}\n{}", text("summary"), text("description"));
        Ok(Self {
            id: id.unwrap_or_else(|| derived_id(&method, path)),
            tags: tags.filter_map(Value::as_str).map(str::to_owned).collect(),
            description: crate::mcp::clean_text(description.trim(), DESCRIPTION_CHARS_MAX),
            body: body(document, fields, argument)?,
            parameters,
            path: path.to_owned(),
            method,
        })
    }

    /// Whether it changes nothing.
    pub(super) fn is_read_only(&self) -> bool {
        matches!(self.method, Method::GET | Method::HEAD | Method::OPTIONS)
    }

    /// The schema of its arguments.
    pub(super) fn schema(&self, document: &Document) -> Value {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for parameter in &self.parameters {
            let mut schema = inlined(document, &parameter.schema);
            if let (Some(fields), false) = (schema.as_object_mut(), parameter.description.is_empty()) {
                let description = crate::mcp::clean_text(&parameter.description, 1_000);
                fields.insert("description".to_owned(), description.into());
            }
            properties.insert(parameter.argument.clone(), schema);
            if parameter.is_required {
                required.push(parameter.argument.clone());
            }
        }
        if let Some(body) = &self.body {
            properties.insert(body.argument.to_owned(), inlined(document, &body.schema));
            if body.is_required {
                required.push(body.argument.to_owned());
            }
        }
        json!({ "type": "object", "properties": properties, "required": required })
    }
}

/// The parameters of the operation, and those of its path that it does not replace.
fn parameters(
    document: &Document,
    item: &Map<String, Value>,
    operation: &Map<String, Value>,
) -> Result<Vec<Parameter>, String> {
    let listed = |fields: &Map<String, Value>| -> Result<Vec<Parameter>, String> {
        let values = fields.get("parameters").and_then(Value::as_array).into_iter().flatten();
        values.map(|value| Parameter::read(document, value)).collect()
    };
    let mut parameters = listed(operation)?;
    for shared in listed(item)? {
        let is_same = |own: &Parameter| own.name == shared.name && own.place == shared.place;
        if !parameters.iter().any(is_same) {
            parameters.push(shared);
        }
    }
    Ok(parameters)
}

fn body(
    document: &Document,
    operation: &Map<String, Value>,
    argument: &'static str,
) -> Result<Option<Body>, String> {
    let Some(body) = operation.get("requestBody") else { return Ok(None) };
    let body = document.resolve(body).ok_or("its body refers to something that does not exist")?;
    let contents = body.get("content").and_then(Value::as_object).ok_or("its body has no content")?;
    let format_of = |kind: &str| match kind.split(';').next().unwrap_or_default().trim() {
        "application/x-www-form-urlencoded" => Some(BodyFormat::Form),
        "multipart/form-data" => Some(BodyFormat::Multipart),
        kind if kind == "application/json" || kind.ends_with("+json") || kind == "*/*" => {
            Some(BodyFormat::Json)
        }
        _ => None,
    };
    let order = [BodyFormat::Json, BodyFormat::Form, BodyFormat::Multipart];
    let found = order.into_iter().find_map(|format| {
        contents
            .iter()
            .find(|(kind, _)| format_of(kind) == Some(format))
            .map(|(_, content)| (format, content))
    });
    let (format, content) = found.ok_or("its body is not JSON or a form")?;
    Ok(Some(Body {
        format,
        is_required: body.get("required").and_then(Value::as_bool).unwrap_or(false),
        schema: content.get("schema").cloned().unwrap_or_else(|| json!({})),
        argument,
    }))
}

/// The names in braces.
fn placeholders(path: &str) -> Vec<&str> {
    path.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name).collect()
}

/// A name for an operation without one: `get_pets_by_petId` for `GET /pets/{petId}`.
fn derived_id(method: &Method, path: &str) -> String {
    let words = path.split('/').filter(|word| !word.is_empty()).map(|word| {
        match word.strip_prefix('{').and_then(|word| word.strip_suffix('}')) {
            Some(name) => format!("by_{name}"),
            None => word.replace(|c: char| !c.is_ascii_alphanumeric(), "_"),
        }
    });
    let words: Vec<String> = std::iter::once(method.as_str().to_lowercase()).chain(words).collect();
    words.join("_")
}
