//! `Document`: an OpenAPI document as JSON.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::error::OpenApiError;

/// The largest document.
pub(super) const DOCUMENT_BYTES_MAX: usize = 32 << 20;

/// A parsed document. Copies are cheap.
#[derive(Clone)]
pub(super) struct Document(Arc<Value>);

impl Document {
    /// Reads JSON or YAML.
    pub(super) fn parse(text: &str) -> Result<Self, OpenApiError> {
        if text.len() > DOCUMENT_BYTES_MAX {
            return Err(OpenApiError::TooLarge(DOCUMENT_BYTES_MAX >> 20));
        }
        let text = text.trim_start_matches('\u{feff}');
        let value: Value = if text.trim_start().starts_with(['{', '[']) {
            serde_json::from_str(text).map_err(|error| OpenApiError::Syntax(error.to_string()))?
        } else {
            serde_saphyr::from_str(text)
                .map_err(|error| OpenApiError::Syntax(first_line(&error.to_string())))?
        };
        let field = |key: &str| {
            value.get(key).map(|version| match version {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            })
        };
        if let Some(version) = field("swagger") {
            return Err(OpenApiError::Swagger(version));
        }
        match field("openapi") {
            Some(version) if version.starts_with("3.") => Ok(Self(Arc::new(value))),
            Some(version) => Err(OpenApiError::NotOpenApi(format!("its version is {version:?}"))),
            None => Err(OpenApiError::NotOpenApi("the key \"openapi\" is missing".to_owned())),
        }
    }

    pub(super) fn root(&self) -> &Value {
        &self.0
    }

    /// The address of the first server, with the defaults of its variables.
    pub(super) fn server(&self) -> Option<String> {
        let server = self.0.get("servers")?.get(0)?;
        let mut url = server.get("url")?.as_str()?.to_owned();
        for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten() {
            let default = variable.get("default").and_then(Value::as_str).unwrap_or_default();
            url = url.replace(&format!("{{{name}}}"), default);
        }
        Some(url)
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = (&str, &Map<String, Value>)> {
        let paths = self.0.get("paths").and_then(Value::as_object).into_iter().flatten();
        paths.filter_map(|(path, item)| Some((path.as_str(), self.resolve(item)?.as_object()?)))
    }

    /// What a value stands for: itself, or what its `$ref` names within the document.
    pub(super) fn resolve<'a>(&'a self, value: &'a Value) -> Option<&'a Value> {
        let mut current = value;
        for _ in 0..16 {
            let Some(reference) = current.get("$ref").and_then(Value::as_str) else { return Some(current) };
            current = self.0.pointer(reference.strip_prefix('#')?)?;
        }
        None
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
