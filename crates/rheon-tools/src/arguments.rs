//! Tool arguments as Rust types: the JSON schema sent to models, and parsing of calls.

use rheon_types::ToolError;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Parses the arguments of a call of `tool`, or says which one is invalid. The run loop has already checked the schema;
/// this checks what only the Rust types know.
pub fn read_arguments<T: DeserializeOwned>(tool: &str, arguments: &Value) -> Result<T, ToolError> {
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let (path, problem) = (error.path().to_string(), error.into_inner());
        ToolError::InvalidArgs(match path.as_str() {
            "." => format!("invalid arguments for {tool}: {problem}"),
            path => format!("invalid arguments for {tool}: {path}: {problem}"),
        })
    })
}

/// The schema of a tool's arguments, without the title and description of the Rust type.
pub fn arguments_schema<T: JsonSchema>() -> Value {
    let mut schema = schemars::generate::SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .into_generator()
        .into_root_schema_for::<T>();
    schema.remove("$schema");
    schema.remove("title");
    schema.remove("description");
    let mut schema = schema.to_value();
    shorten(&mut schema);
    schema
}

/// Removes what a model does not need: number formats and trivial defaults. The schema is sent with every request.
fn shorten(schema: &mut Value) {
    let parts: Vec<&mut Value> = match schema {
        Value::Object(fields) => {
            if fields.get("type").is_some_and(is_numeric) {
                fields.remove("format");
                fields.retain(|key, value| key != "minimum" || *value != 0);
            }
            let is_plain =
                |value: &Value| [json!(null), json!(false), json!(0), json!(""), json!([])].contains(value);
            fields.retain(|key, value| key != "default" || !is_plain(value));
            fields.values_mut().collect()
        }
        Value::Array(parts) => parts.iter_mut().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return,
    };
    parts.into_iter().for_each(shorten);
}

fn is_numeric(kind: &Value) -> bool {
    let is_number = |kind: &Value| kind == "integer" || kind == "number";
    is_number(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(is_number))
}
