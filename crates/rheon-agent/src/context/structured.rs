//! Parses an answer as JSON and checks it against the output schema. Pure functions.

use rheon_types::OutputSchema;
use serde_json::Value;

/// The maximum number of problems reported.
const PROBLEMS_MAX: usize = 5;

/// Why `schema` is not a valid JSON Schema, with the location; `None` if it is valid.
pub fn schema_problem(schema: &Value) -> Option<String> {
    let error = jsonschema::validator_for(schema).err()?;
    let path = error.instance_path().to_string();
    let types = match path.ends_with("/type") {
        true => "; types are object, array, string, number, integer, boolean and null",
        false => "",
    };
    Some(if path.is_empty() { error.to_string() } else { format!("at {path}: {error}{types}") })
}

/// Parses `text` and checks it against `schema`.
pub(crate) fn structured(text: &str, schema: &OutputSchema) -> Result<Value, String> {
    let value: Value =
        serde_json::from_str(without_fence(text)).map_err(|error| format!("it is not JSON: {error}"))?;
    let validator = jsonschema::validator_for(&schema.schema)
        .map_err(|error| format!("the output schema is invalid: {error}"))?;
    let problem = |error: jsonschema::ValidationError<'_>| {
        let path = error.instance_path().to_string();
        if path.is_empty() { error.to_string() } else { format!("at {path}: {error}") }
    };
    let problems: Vec<String> = validator.iter_errors(&value).take(PROBLEMS_MAX).map(problem).collect();
    if problems.is_empty() { Ok(value) } else { Err(problems.join("; ")) }
}

/// The text inside a code fence, if one surrounds all of it.
fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let within = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    match within.and_then(|within| within.split_once('\n')) {
        Some((_language, body)) => body.trim(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> OutputSchema {
        let schema = json!({
            "type": "object",
            "properties": { "name": { "type": "string" }, "age": { "type": "integer" } },
            "required": ["name"],
        });
        OutputSchema { name: "person".into(), schema }
    }

    #[test]
    fn a_value_is_found_bare_and_in_a_fence() {
        let value = json!({ "name": "Ada" });
        assert_eq!(structured("{\"name\":\"Ada\"}", &schema()), Ok(value.clone()));
        assert_eq!(structured("\n```json\n{\"name\":\"Ada\"}\n```\n", &schema()), Ok(value));
    }

    #[test]
    fn an_invalid_schema_is_reported_with_its_location() {
        assert_eq!(schema_problem(&schema().schema), None);
        let problem =
            schema_problem(&json!({ "properties": { "age": { "type": "number or so" } } })).unwrap();
        assert!(problem.starts_with("at /properties/age/type: "), "{problem}");
        let problem = schema_problem(&json!({ "properties": { "x": { "$ref": "#/nowhere" } } })).unwrap();
        assert!(problem.contains("/nowhere"), "{problem}");
    }

    #[test]
    fn problems_are_reported_with_their_location() {
        let problem = structured("{\"age\":\"old\"}", &schema());
        assert_eq!(
            problem,
            Err("\"name\" is a required property; at /age: \"old\" is not of type \"integer\"".into())
        );
        let problem = structured("Sure! Here it is:", &schema()).unwrap_err();
        assert!(problem.starts_with("it is not JSON: expected value at line 1"), "{problem}");
    }
}
